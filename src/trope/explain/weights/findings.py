"""The weights of a run's training pairs as figures: spreads, correlations, both ends."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from jaxtyping import Float, Int

from trope.explain.cards import Card, text_card
from trope.explain.weights.certainty import Certainty, certainties, reach_of
from trope.training import WeighedRun
from trope.weights import MEASURES, effective
from trope.weights.spread import ranks

TINY = 1e-12  # a spread that is rounding alone

Numbers: TypeAlias = Float[np.ndarray, " n"]


@dataclass(frozen=True)
class Spread:
    """Mean and standard deviation over all pairs."""

    mean: float
    deviation: float

    @classmethod
    def of(cls, values: np.ndarray) -> Spread:
        """Of some numbers."""
        return cls(float(values.mean()), float(values.std()))


@dataclass(frozen=True, eq=False)
class Weighting:
    """One weight of all pairs: how even it is, as multiples of its mean, and both of its ends.

    `ess` is the effective sample size as a share of all pairs.
    """

    name: str
    weights: Numbers = field(repr=False)
    ess: float
    largest: float
    smallest: float
    highest: tuple[Card, ...]
    lowest: tuple[Card, ...]

    def document(self) -> dict[str, Any]:
        """As plain values, with ids in place of cards."""
        plain = {name: getattr(self, name) for name in ("name", "ess", "largest", "smallest")}
        ends = {end: [card.id for card in getattr(self, end)] for end in ("highest", "lowest")}
        return plain | ends


@dataclass(frozen=True, eq=False)
class RunWeights:
    """Both measures of the training pairs of a run, and what one or more weights make of them.

    `measures` has for each the spread of its cosines among images and among texts, and of the
    difference |alpha_X - alpha_Y|; `correlations` are Spearman's, between the two measures. Of a
    run whose items are distributions, `certainties` are those of images and of texts.
    """

    run: str
    data: str
    batch: int
    measures: Mapping[str, Mapping[str, Spread]]
    correlations: Mapping[str, float]
    weightings: tuple[Weighting, ...]
    table: pa.Table = field(repr=False)
    neighbors: str
    remarks: tuple[str, ...]
    certainties: tuple[Certainty, ...] = ()

    @property
    def count(self) -> int:
        """How many pairs there are."""
        return int(self.table.num_rows)

    @property
    def lead(self) -> str:
        """How uneven the weights are, in one sentence."""
        parts = [
            f"those of {one.name} count as {one.ess:.1%} of the pairs, from {one.smallest:.2f} to "
            f"{one.largest:.2f} times the mean"
            for one in self.weightings
        ]
        return f"How uneven the weights are: {'; '.join(parts)}."

    def cards(self) -> set[int]:
        """The rows whose pictures are shown."""
        weighed = (card for one in self.weightings for card in (*one.highest, *one.lowest))
        certain = (card for one in self.certainties for card in (*one.most, *one.least))
        return {card.row for cards in (weighed, certain) for card in cards}

    def document(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "run": self.run,
            "data": self.data,
            "pairs": self.count,
            "neighbors": self.neighbors,
            "measures": {
                name: {what: asdict(spread) for what, spread in known.items()}
                for name, known in self.measures.items()
            },
            "spearman": dict(self.correlations),
            "weights": [one.document() for one in self.weightings],
            "certainty": [one.document() for one in self.certainties],
            "remarks": self.remarks,
        }


def run_weights(
    run: Path, found: WeighedRun, weights: Mapping[str, Numbers], shown: int
) -> RunWeights:
    """Everything about the pairs of a run and some weights of them, by name."""
    weighed = found.weighed
    differences = {name: weighed.difference(name) for name in MEASURES}
    kinds = {"image": 0, "text": 1}
    measures = {
        name: {kind: Spread.of(weighed.scores[name][side]) for kind, side in kinds.items()}
        | {"difference": Spread.of(differences[name])}
        for name in MEASURES
    }
    one, other = (weighed.scores[name] for name in MEASURES)
    correlations = {"difference": spearman(*differences.values())}
    correlations |= {kind: spearman(one[side], other[side]) for kind, side in kinds.items()}
    return RunWeights(
        run=run.absolute().name,
        data=Path(found.pairs.root).absolute().name,
        batch=found.settings.training.batch,
        measures=measures,
        correlations=correlations,
        weightings=tuple(_weighting(found, name, some, shown) for name, some in weights.items()),
        table=_table(found, weights),
        neighbors=_neighbors(found),
        remarks=found.remarks,
        certainties=certainties(found, shown),
    )


def spearman(left: Numbers, right: Numbers) -> float:
    """Rank correlation, equal values sharing the middle of their ranks; nan where all are equal."""
    one, other = (ranks(values) - ranks(values).mean() for values in (left, right))
    size = float(np.sqrt(np.square(one).sum() * np.square(other).sum()))
    return float((one * other).sum() / size) if size > TINY else float("nan")


def _neighbors(found: WeighedRun) -> str:
    """How many each pair has at most, and what they are."""
    near, many = found.settings.neighbors, found.around.shape[1]
    if near.source == "siblings":
        return f"{many} other texts of the same picture"
    return f"{many} nearest in the space {'looks' if near.source == 'image' else near.space}"


def _weighting(found: WeighedRun, name: str, weights: Numbers, shown: int) -> Weighting:
    relative = weights / max(float(weights.mean()), TINY)
    order = np.argsort(-weights, kind="stable")
    measure = name if name in MEASURES else ""

    def cards(places: Int[np.ndarray, " some"]) -> tuple[Card, ...]:
        return tuple(_card(found, int(i), float(relative[i]), measure) for i in places)

    return Weighting(
        name=name,
        weights=weights,
        ess=float(effective(weights)),
        largest=float(relative.max()),
        smallest=float(relative.min()),
        highest=cards(order[:shown]),
        lowest=cards(order[::-1][: min(shown, max(len(order) - shown, 0))]),
    )


def _card(found: WeighedRun, place: int, weight: float, measure: str) -> Card:
    notes = [f"weight {weight:.3f}"]
    if measure:
        image, text = found.weighed.scores[measure][:, place]
        apart = found.weighed.difference(measure)[place]
        notes.append(f"image {image:.3f}, text {text:.3f}, |α − α| {apart:.3f}")
    return text_card(found.pairs, int(found.train.texts[place]), " · ".join(notes))


def _table(found: WeighedRun, weights: Mapping[str, Numbers]) -> pa.Table:
    rows = found.rows
    first = np.concatenate([[0], np.cumsum(found.pairs.text_counts)])
    columns: dict[str, Any] = {
        "id": found.pairs.column("id").take(pa.array(rows)).combine_chunks(),
        "number": pa.array(found.train.texts - first[rows]),
        "text": found.pairs.flat_texts()[0].take(pa.array(found.train.texts)).combine_chunks(),
    }
    for name in MEASURES:
        image, text = found.weighed.scores[name]
        columns |= {f"{name} image": pa.array(image), f"{name} text": pa.array(text)}
        columns[f"{name} difference"] = pa.array(found.weighed.difference(name))
    for side, items in (("image", found.image), ("text", found.text)):
        if items.log_sigma is not None:
            columns[f"spread {side}"] = pa.array(reach_of(items))
    return pa.table(columns | {f"weight {name}": pa.array(w) for name, w in weights.items()})

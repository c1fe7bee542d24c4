"""Both directions and both modalities of an embedded split: a number for every query."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Float64, Int

from trope.errors import DataError, UsageError
from trope.evaluation.chance import median_rank
from trope.evaluation.embedded import Bank, Embedded
from trope.evaluation.folds import Fold, folds_of
from trope.evaluation.gallery import Gallery, Side
from trope.evaluation.hubs import Hubs, correction
from trope.evaluation.passes import Direction, Measured, Truth, measured
from trope.evaluation.relevance import Captions
from trope.evaluation.scoring import Scores, seen_from
from trope.metrics import Labels, Metric
from trope.metrics.neighborhood import preservation

DIRECTIONS: dict[str, Side] = {"image_to_text": "image", "text_to_image": "text"}
OTHER: dict[Side, Side] = {"image": "text", "text": "image"}

Values: TypeAlias = Float64[np.ndarray, " _queries"]
Named: TypeAlias = dict[str, Values]
Truths: TypeAlias = Mapping[Side, Sequence[Truth]]


@dataclass(frozen=True, eq=False)
class Plan:
    """Metrics and caption measures, size of folds, correction of hubs, and other truths."""

    metrics: tuple[Metric, ...]
    measures: tuple[str, ...] = ()
    folds: int = 0
    hubs: Mapping[Side, Hubs] = field(default_factory=dict)
    truths: Truths = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Measurements:
    """By direction or modality and name: a number a query, and what chance gives on average.

    `folds` is the fold of each query of a side, -1 for none; None without folds.
    """

    gallery: Gallery
    values: dict[str, Named]
    chance: dict[str, dict[str, float]]
    folds: dict[Side, Int[np.ndarray, " _queries"]] | None = None


def measure(embedded: Embedded, plan: Plan, bank: Bank | None = None) -> Measurements:
    """Both directions, over the whole gallery or in folds."""
    gallery = embedded.gallery
    folds = folds_of(gallery, plan.folds)
    captions = Captions(gallery, plan.measures)
    found: dict[str, list[Measured]] = {name: [] for name in DIRECTIONS}
    for fold in folds:
        part = embedded if fold.whole else embedded.take(fold.images)
        for name, parts in found.items():
            parts.append(_direction(part, plan, bank, captions, name, fold))
    values: dict[str, Named] = {}
    chance: dict[str, dict[str, float]] = {}
    for name, side in DIRECTIONS.items():
        places = [fold.of(side) for fold in folds]
        each = [part.values for part in found[name]]
        values[name] = _spread(each, places, gallery.count(side))
        chance[name] = _expected(found[name], folds, side)
    numbers = None if not plan.folds else {side: _numbers(gallery, folds, side) for side in OTHER}
    return Measurements(gallery, values, chance, numbers)


def direction_of(
    embedded: Embedded,
    side: Side,
    hubs: Hubs | None = None,
    bank: Bank | None = None,
) -> Direction:
    """Queries of one side of a gallery against the items of the other."""
    gallery, other = embedded.gallery, OTHER[side]
    found = None
    if hubs is not None and hubs.method != "none":
        if bank is None:
            raise UsageError("--hubs: needs vectors of training queries, and there are none")
        compared = partial(seen_from, side, scorer=embedded.scorer)
        room = 1 if embedded.scorer is None else embedded.scorer.room
        found = correction(bank.of(side), embedded.of(other), hubs, compared, room)
    right = gallery.right if side == "image" else gallery.right.T.tocsr()
    labels = _labels(gallery, side)
    return Direction(Scores(embedded.similarities, side, found), right, labels)


@dataclass(frozen=True, eq=False)
class Preserved:
    """Preservation by modality and name, what chance gives, and the k that was not asked for."""

    values: dict[str, Named]
    chance: dict[str, dict[str, float]]
    near: dict[str, int]


def preserved(
    embedded: Embedded, meaning: Float[np.ndarray, "texts d"], numbers: Sequence[int | None]
) -> Preserved:
    """Preservation of semantic neighborhoods, for pictures and for texts, and by chance.

    A picture lies in the space of texts where its texts do on average.
    """
    gallery = embedded.gallery
    texts = meaning[gallery.texts]
    sums = np.add.reduceat(texts, gallery.starts[:-1], axis=0)
    pictures = sums / np.diff(gallery.starts)[:, None]
    copies = np.unique(pictures, axis=0, return_inverse=True)[1]
    values: dict[str, Named] = {"image": {}, "text": {}}
    chance: dict[str, dict[str, float]] = {"image": {}, "text": {}}
    near: dict[str, int] = {}
    for side, semantic, same in (
        ("image", pictures, [copies.ravel()]),
        ("text", texts, [gallery.meaning, gallery.owners]),
    ):
        learned = embedded.image if side == "image" else embedded.text
        for number in numbers:
            found = preservation(semantic.astype(np.float32), learned, same, number)
            name = "preservation" if number is None else f"preservation@{found.k}"
            near |= {side: found.k} if number is None else {}
            values[side][name] = found.values
            chance[side][name] = _mean(found.chance)
    return Preserved(values, chance, near)


def _direction(
    embedded: Embedded, plan: Plan, bank: Bank | None, captions: Captions, name: str, fold: Fold
) -> Measured:
    """One direction in one fold, whose vectors these are."""
    side = DIRECTIONS[name]
    direction = direction_of(embedded, side, plan.hubs.get(side), bank)
    relevance = captions.graded(side, fold.images, fold.texts)
    truths = tuple(_within(truth, fold, side) for truth in plan.truths.get(side, ()))
    purpose = (name, str(fold.images[0]))
    return measured(
        replace(direction, relevance=relevance, truths=truths, purpose=purpose),
        plan.metrics,
        what=name.replace("_", " "),
    )


def _within(truth: Truth, fold: Fold, side: Side) -> Truth:
    return replace(truth, right=truth.right[fold.of(side)][:, fold.of(OTHER[side])].tocsr())


def _labels(gallery: Gallery, side: Side) -> Labels | None:
    if gallery.labels is None:
        return None
    texts = gallery.labels[gallery.owners]
    return Labels(gallery.labels, texts) if side == "image" else Labels(texts, gallery.labels)


def _spread(
    parts: Sequence[Named], places: Sequence[Int[np.ndarray, " _some"]], queries: int
) -> Named:
    """Values of folds at the places of their queries; NaN for queries that are in no fold."""
    names = dict.fromkeys(name for part in parts for name in part)
    found = {name: np.full(queries, np.nan) for name in names}
    for part, place in zip(parts, places, strict=True):
        for name, values in part.items():
            found[name][place] = values
    return found


def _expected(parts: Sequence[Measured], folds: Sequence[Fold], side: Side) -> dict[str, float]:
    """What chance gives, the mean over folds."""
    means = [{name: _mean(values) for name, values in part.chance.items()} for part in parts]
    for part, fold, known in zip(parts, folds, means, strict=True):
        if "median-rank" in part.values:
            right = fold.right if side == "image" else fold.right.T.tocsr()
            counts = np.diff(right.indptr)
            known["median-rank"] = median_rank(counts[counts > 0], right.shape[1])
    return {
        name: float(np.mean([known[name] for known in means]))
        for name in means[0]
        if all(name in known for known in means)
    }


def _numbers(gallery: Gallery, folds: Sequence[Fold], side: Side) -> Int[np.ndarray, " queries"]:
    found = np.full(gallery.count(side), -1)
    for number, fold in enumerate(folds):
        found[fold.of(side)] = number
    return found


def _mean(values: Values) -> float:
    there = values[~np.isnan(values)]
    return math.fsum(there) / len(there) if len(there) else float("nan")


def refuse_tiny(gallery: Gallery, where: str) -> None:
    """Two pictures and two texts are the least that can be told apart."""
    if len(gallery.images) < 2:
        raise DataError(f"{where}: one picture alone; retrieval needs at least two to choose from")

"""Pairs that look wrong, as records: for the page, as JSON, and as a table of all pairs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from trope.data.pairs import Pairs
from trope.explain.cards import Card, about, card
from trope.explain.wrong.around import Ids
from trope.explain.wrong.scores import SCORES, WITNESSES, Testimony
from trope.explain.wrong.settings import WrongSettings
from trope.explain.wrong.sides import Rows, Sides

CARDS = 6  # neighbors of each kind that are shown
HALF = 0.5  # of others suit better by chance

REASONS = {
    "image-neighbors": "pictures that look like it go with other texts: {} of texts suit better",
    "text-neighbors": "texts that mean the same go with other pictures: {} of pictures suit better",
    "image-regression": "such a picture calls for another text: {} of texts suit better",
    "text-regression": "such a text calls for another picture: {} of pictures suit better",
}
NOTHING = "nothing speaks against it"


@dataclass(frozen=True)
class Suspect:
    """A pair that looks wrong, why, and the neighbors that tell so."""

    rank: int
    row: int
    id: str
    score: float
    why: str
    texts: tuple[str, ...]
    about: Mapping[str, str]
    outdone: Mapping[str, float]
    look: tuple[Card, ...]
    meaning: tuple[Card, ...]


@dataclass(frozen=True, eq=False)
class Suspects:
    """All pairs in order, the wrongest first, and those shown."""

    data: str
    rows: int
    settings: WrongSettings
    table: pa.Table
    shown: tuple[Suspect, ...]
    remarks: tuple[str, ...]

    @property
    def name(self) -> str:
        """The data set without the folders above it, which are nobody's business."""
        return Path(self.data).absolute().name

    @property
    def usable(self) -> int:
        """How many pairs were judged."""
        return int(self.table.num_rows)

    @property
    def witnesses(self) -> tuple[str, ...]:
        """By whom."""
        return SCORES[self.settings.score]

    def pictures(self) -> tuple[set[int], set[int]]:
        """The rows that are shown large, and those shown small."""
        cards = (other.row for pair in self.shown for other in (*pair.look, *pair.meaning))
        return {pair.row for pair in self.shown}, set(cards)

    def document(self) -> dict[str, Any]:
        """As plain values; of many pairs the first alone."""
        return {
            "data": self.name,
            "rows": self.rows,
            "usable": self.usable,
            "witnesses": self.witnesses,
            "remarks": self.remarks,
            "pairs": self.table.slice(0, self.settings.listed).to_pylist(),
        }


def suspects(
    pairs: Pairs,
    rows: Rows,
    sides: Sides,
    told: Testimony,
    settings: WrongSettings,
    remarks: tuple[str, ...],
) -> Suspects:
    """Put all pairs in order and describe the first."""
    score = told.score(settings.score)
    order = np.argsort(-score, kind="stable")
    table = _table(pairs, rows, told, score, order)
    listed = table.slice(0, settings.shown).to_pylist()
    shown = [
        _suspect(pairs, rows, sides, told, int(place), known)
        for place, known in zip(order, listed, strict=False)
    ]
    return Suspects(str(pairs.root), len(pairs), settings, table, tuple(shown), remarks)


def reasons(told: Testimony) -> list[str]:
    """For each pair what speaks against it most, in words."""
    names = list(told.outdone)
    shares = np.stack([told.outdone[name] for name in names])
    worst = shares.argmax(axis=0)
    return [
        REASONS[names[which]].format(f"{share:.0%}") if share > HALF else NOTHING
        for which, share in zip(worst.tolist(), shares.max(axis=0).tolist(), strict=True)
    ]


def _table(pairs: Pairs, rows: Rows, told: Testimony, score: np.ndarray, order: Rows) -> pa.Table:
    columns: dict[str, Any] = {
        "rank": pa.array(np.arange(1, len(order) + 1)),
        "id": pairs.column("id").take(pa.array(rows[order])).combine_chunks(),
        "score": pa.array(score[order]),
        "why": pa.array(reasons(told)).take(pa.array(order)),
    }
    shares = {name: pa.array(told.outdone[name][order]) for name in told.outdone}
    return pa.table(columns | shares)


def _suspect(
    pairs: Pairs,
    rows: Rows,
    sides: Sides,
    told: Testimony,
    place: int,
    known: Mapping[str, Any],
) -> Suspect:
    row = int(rows[place])
    pair = pairs[row]

    def cards(side: np.ndarray, ids: Ids, what: str) -> tuple[Card, ...]:
        near = ids[place][ids[place] >= 0][:CARDS]
        cosines = side[near] @ side[place]
        return tuple(
            card(pairs, int(rows[other]), f"{what} {cosine:.2f}")
            for other, cosine in zip(near, cosines.tolist(), strict=True)
        )

    return Suspect(
        rank=known["rank"],
        row=row,
        id=pair.id,
        score=known["score"],
        why=known["why"],
        texts=pair.texts,
        about=about(pair),
        outdone={name: known[name] for name in WITNESSES if name in known},
        look=cards(sides.image, told.look, "look"),
        meaning=cards(sides.text, told.meaning, "meaning"),
    )

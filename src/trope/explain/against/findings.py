"""What two runs keep together, as records: for the page and as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trope.explain.cards import Card


@dataclass(frozen=True)
class Couple:
    """Two neighbors in meaning, and how far apart their pictures, or texts, lie in each run."""

    left: Card
    right: Card
    ratio: float
    one: float
    other: float

    @property
    def note(self) -> str:
        """The numbers in words."""
        return f"ratio {self.ratio:.4f} = {self.one:.4f} / {self.other:.4f}"

    def document(self) -> dict[str, Any]:
        """As plain values, with ids in place of cards."""
        ids = {"left": self.left.id, "right": self.right.id}
        return ids | {"ratio": self.ratio, "one": self.one, "other": self.other}


@dataclass(frozen=True)
class Kept:
    """Couples of one modality: those kept closest by the one run, and those by the other.

    `closer` is the share that the one keeps closer, `strangers` that of any two couples, `median`
    the middle of the ratios; `near` and `any` are mean distances of neighbors and of any two, in
    the one run and in the other. A run that keeps none closer has none to show.
    """

    couples: int
    closer: float
    strangers: float
    median: float
    near: tuple[float, float]
    any: tuple[float, float]
    by_one: tuple[Couple, ...]
    by_other: tuple[Couple, ...]

    def document(self) -> dict[str, Any]:
        """As plain values."""
        names = ("couples", "closer", "strangers", "median", "near")
        plain = {name: getattr(self, name) for name in names}
        ends = {
            end: [couple.document() for couple in getattr(self, end)]
            for end in ("by_one", "by_other")
        }
        return plain | {"any": self.any} | ends


@dataclass(frozen=True)
class Contrast:
    """Two runs over the same pairs of a split."""

    one: str
    other: str
    data: str
    split: str
    pairs: int
    neighbors: str
    kept: Mapping[str, Kept]  # of images and of texts
    remarks: tuple[str, ...]

    @property
    def lead(self) -> str:
        """Which run keeps more neighbors closer, in one sentence."""
        parts = [
            f"{known.closer:.1%} of neighboring {name}s (of any two: {known.strangers:.1%})"
            for name, known in self.kept.items()
        ]
        return f"{self.one} keeps {' and '.join(parts)} closer together than {self.other} does."

    def cards(self) -> set[int]:
        """The rows whose pictures are shown."""
        couples = (c for k in self.kept.values() for c in (*k.by_one, *k.by_other))
        return {card.row for couple in couples for card in (couple.left, couple.right)}

    def document(self) -> dict[str, Any]:
        """As plain values."""
        names = ("one", "other", "data", "split", "pairs", "neighbors", "remarks")
        return {name: getattr(self, name) for name in names} | {
            "kept": {name: known.document() for name, known in self.kept.items()}
        }

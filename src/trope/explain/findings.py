"""What was found about a data set and the pairs shown, as records: for the page and as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from trope.explain.shares import Share


@dataclass(frozen=True)
class Neighbor:
    """A pair that means alike: how far its text is, how alike its picture looks, and its rank."""

    row: int
    id: str
    text: str
    distance: float
    similarity: float
    look_rank: int
    looks_alike: bool
    same_picture: bool


@dataclass(frozen=True)
class Lookalike:
    """A pair whose picture looks most alike, and whether it is among those that mean alike."""

    row: int
    id: str
    text: str
    similarity: float
    means_alike: bool
    same_picture: bool


@dataclass(frozen=True)
class Explained:
    """A pair with its neighbors by meaning and by look."""

    row: int
    id: str
    why: str
    texts: tuple[str, ...]
    about: Mapping[str, str]
    neighbors: tuple[Neighbor, ...]
    lookalikes: tuple[Lookalike, ...]

    @property
    def alike(self) -> int:
        """How many of its neighbors look alike."""
        return sum(neighbor.looks_alike for neighbor in self.neighbors)

    def document(self) -> dict[str, Any]:
        """The numbers, with ids in place of texts."""
        return {
            "id": self.id,
            "why": self.why,
            "look_alike": self.alike,
            "neighbors": [_numbers(neighbor) for neighbor in self.neighbors],
            "lookalikes": [_numbers(lookalike) for lookalike in self.lookalikes],
        }


@dataclass(frozen=True)
class Findings:
    """All there is to say: which pairs were compared and how, the shares, the pairs shown.

    A picture looks alike when it is among the `nearest` of `others` pictures, or equal to the last.
    """

    data: str
    rows: int
    usable: int
    space: str
    metric: str
    visual: str
    k: int
    nearest: int
    others: int
    looks_alike: Share
    agree: tuple[str, Share] | None
    recall: tuple[float, int] | None
    pairs: tuple[Explained, ...]
    remarks: tuple[str, ...]

    @property
    def name(self) -> str:
        """The data set without the folders above it, which are nobody's business."""
        return Path(self.data).absolute().name

    @property
    def lead(self) -> str:
        """The answer in one sentence, or why there is none."""
        alike = self.looks_alike
        if not alike.pairs:
            return (
                "No pair has a neighbor in meaning, where an equal text is none: "
                "there is nothing to compare."
            )
        if self.k >= self.usable - 1:
            return (
                f"All {self.usable - 1:,} other pairs are among the {self.k} nearest in meaning: "
                "a share of them says nothing. Ask for fewer with -k."
            )
        return (
            f"Of the {self.k} pairs nearest in meaning, {alike.value:.1%} also look alike; of "
            f"pairs drawn by chance, {alike.chance:.1%} would."
        )

    @property
    def rule(self) -> str:
        """When a picture looks alike, in words."""
        return (
            f"A picture looks alike when it is among the {self.nearest:,} of {self.others:,} other "
            f"pictures ({self.nearest / self.others:.1%}) nearest to it by the cosine of "
            f"{self.visual} features, or as near as the last of them."
        )

    @property
    def recall_line(self) -> str:
        """What `--recall` asks for, in words; empty when it was not asked for."""
        if self.recall is None:
            return ""
        value, sample = self.recall
        if math.isnan(value):
            return f"HNSW recall@{self.k}: no neighbor is there to be found"
        return f"HNSW recall@{self.k} against exact on a sample of {sample:,} rows: {value:.4f}"

    def shown_rows(self) -> set[int]:
        """The rows whose pictures stand beside those of the pairs."""
        near = (other.row for pair in self.pairs for other in pair.neighbors)
        return {*near, *(other.row for pair in self.pairs for other in pair.lookalikes)}

    def document(self) -> dict[str, Any]:
        """As plain values."""
        compared = {"space": self.space, "metric": self.metric, "visual": self.visual, "k": self.k}
        shares: dict[str, Any] = {"looks_alike": self.looks_alike.document()}
        if self.agree:
            shares["agree"] = {"column": self.agree[0], **self.agree[1].document()}
        document: dict[str, Any] = {
            "data": self.name,
            "rows": self.rows,
            "usable": self.usable,
            "compared": compared,
            "rule": self.rule,
            "shares": shares,
            "pairs": [pair.document() for pair in self.pairs],
            "remarks": self.remarks,
        }
        if self.recall:
            document["recall"] = {"k": self.k, "rows": self.recall[1], "value": self.recall[0]}
        return document


def _numbers(item: Neighbor | Lookalike) -> dict[str, Any]:
    return {name: value for name, value in asdict(item).items() if name not in ("row", "text")}

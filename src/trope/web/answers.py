"""What is answered, as records that become JSON and pages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from trope.encoders.scorers import COSINE
from trope.index.items import Modality
from trope.search.index import Find

Verdict: TypeAlias = Literal["keep", "flag"]


@dataclass(frozen=True)
class Picture:
    """Where a picture can be had in three sizes, and how large it is; sizes may be unknown."""

    small: str
    medium: str
    large: str
    width: int | None = None
    height: int | None = None


@dataclass(frozen=True)
class Senses:
    """The numbers of the senses that matched, from 1."""

    query: int
    item: int


@dataclass(frozen=True)
class Learned:
    """An item that the model has learned from, near to a hit."""

    key: str
    id: str
    score: float  # with the hit
    query: float  # with the query
    text: str | None
    picture: Picture | None


@dataclass(frozen=True)
class Found:
    """A picture or a text that was found, with its row.

    `text` of a picture is the first of its row, `picture` of a text that of its row. There is no
    `score` where nothing was compared; where the model ranks by a comparison of its own, the
    `cosine` stands beside it, and for distributions how likely question and item match. `senses`
    and `neighbors` are there when asked for.
    """

    rank: int
    key: str
    id: str
    modality: Modality
    score: float | None
    text: str | None
    picture: Picture | None
    labels: tuple[str, ...]
    group: str | None
    license: str | None
    columns: Mapping[str, Any]
    learned: bool
    place: int | None = None
    senses: Senses | None = None
    neighbors: tuple[Learned, ...] | None = None
    mark: Verdict | None = None
    cosine: float | None = None
    match_probability: float | None = None


@dataclass(frozen=True)
class Answer:
    """Hits of one page, best first; `more` says whether there is another, `total` how many pass.

    `ranked_by` is `cosine` or the name of the model's scorer; `spread` how far a question that is a
    distribution reaches from its mean.
    """

    hits: tuple[Found, ...]
    find: Find
    page: int
    k: int
    more: bool
    total: int | None
    took_ms: float
    index: int = 0
    remarks: tuple[str, ...] = ()
    ranked_by: str = COSINE
    spread: float | None = None


@dataclass(frozen=True)
class Text:
    """One of the texts of a row."""

    key: str
    place: int
    text: str


@dataclass(frozen=True)
class Item:
    """An item with its whole row, what is like it, and what the model has learned from nearby.

    `same_picture` are pictures near to its picture, `same_meaning` texts near to its text, each
    with the rest of its row; None where the row lacks that side.
    """

    found: Found
    texts: tuple[Text, ...]
    same_picture: tuple[Found, ...] | None
    same_meaning: tuple[Found, ...] | None


@dataclass(frozen=True)
class IndexAbout:
    """What an index holds."""

    number: int
    name: str
    images: int
    texts: int
    senses: int
    engine: str
    by_picture: bool
    state: int
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class Difference:
    """An item of two answers: its ranks, and what happened to it on the way to the second."""

    key: str
    left: int | None
    right: int | None
    change: Literal["same", "up", "down", "only left", "only right"]


@dataclass(frozen=True)
class Comparison:
    """The answers of two indexes to the same, and every item that is in one of them."""

    left: Answer
    right: Answer
    differences: tuple[Difference, ...]
    overlap: float = field(default=0.0)

"""What is asked of the page or its API, in the words of its URL."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from trope.errors import UsageError
from trope.search.index import Find

Like: TypeAlias = Literal["picture", "meaning"]

TEXTS, LONGEST = 8, 2_000  # texts of a query, and characters of each
MOST, DEEPEST = 100, 1_000  # hits of a page, and of all pages
COLUMNS, VALUES = 20, 100  # columns to filter by, and values of each


@dataclass(frozen=True)
class Asked:
    """Words, an uploaded picture (by its digest) or an item (by its key) to search with.

    Without any of them all items are gone through. `like` says which side of the item's row counts;
    `facets` are values of columns, one of which a row must have: of numbers and dates also ranges,
    such as `2010..2020`.
    """

    q: tuple[str, ...] = ()
    minus: tuple[str, ...] = ()
    image: str | None = None
    item: str | None = None
    like: Like = "picture"
    find: Find | None = None
    where: str | None = None
    facets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    k: int = 24
    page: int = 1
    index: int = 0
    explain: bool = False

    def __post_init__(self) -> None:
        _refuse_texts((*self.q, *self.minus))
        _refuse_pages(self.k, self.page)
        _refuse_facets(self.facets)
        if self.item and (self.q or self.image):
            raise UsageError("search: with words or a picture, or with an item, not with both")
        if self.minus and not (self.q or self.image):
            raise UsageError("search: there is nothing to subtract from")

    @property
    def anything(self) -> bool:
        """Whether there is something to be near to."""
        return bool(self.q or self.image or self.item)


def _refuse_texts(texts: tuple[str, ...]) -> None:
    if len(texts) > TEXTS:
        raise UsageError(f"search: at most {TEXTS} texts, found {len(texts)}")
    for text in texts:
        if len(text) > LONGEST:
            raise UsageError(f"search: a text of at most {LONGEST:,} characters")
        if not text.strip():
            raise UsageError("search: a text is empty")


def _refuse_pages(k: int, page: int) -> None:
    if not 1 <= k <= MOST:
        raise UsageError(f"search: k must be from 1 to {MOST}, found {k}")
    if not 1 <= page <= DEEPEST or k * page > DEEPEST:
        raise UsageError(f"search: at most {DEEPEST:,} hits can be paged through")


def _refuse_facets(facets: Mapping[str, tuple[str, ...]]) -> None:
    if len(facets) > COLUMNS:
        raise UsageError(f"filters: at most {COLUMNS} columns, found {len(facets)}")
    for column, values in facets.items():
        if len(values) > VALUES:
            raise UsageError(f"filters: at most {VALUES} values of '{column[:80]}'")

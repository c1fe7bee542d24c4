"""What `trope explain` has written, as data for pages; its rows are shown from the index."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeAlias

import orjson

from trope.errors import DataError, UsageError

Kind: TypeAlias = Literal["neighbors", "weights", "wrong", "against"]
KINDS: dict[Kind, str] = {
    "neighbors": "Neighborhood preservation",
    "weights": "Weights and extremes",
    "wrong": "Suspicious pairs",
    "against": "Two runs side by side",
}
LARGEST = 256 * 2**20  # bytes of a document
ROWS = frozenset(["id", "left", "right"])  # what names a row in the documents
LISTS = frozenset(["highest", "lowest", "most", "least"])


@dataclass(frozen=True)
class Part:
    """A page of a document, the ids of the rows it names, and whether there is another."""

    document: Mapping[str, Any]
    rows: list[str]
    more: bool


@dataclass(frozen=True)
class ExplainPage:
    """A document of one kind; `name` is what it is asked for by."""

    name: str
    kind: Kind
    title: str
    document: Mapping[str, Any]

    @cached_property
    def rows(self) -> list[str]:
        """The ids of all rows that the document names, each once."""
        return _named(self.document)

    @property
    def pairs(self) -> list[Any]:
        """The list of pairs, which may be very long; empty in documents without one."""
        found = self.document.get("pairs")
        return found if isinstance(found, list) else []

    def part(self, first: int, count: int) -> Part:
        """Some of its pairs with the rest, and the rows they name; without pairs, some rows."""
        if not self.pairs:
            more = len(self.rows) > first + count
            return Part(self.document, self.rows[first : first + count], more)
        document = {**self.document, "pairs": self.pairs[first : first + count]}
        return Part(document, _named(document), len(self.pairs) > first + count)


def explain_pages(folders: Sequence[Path]) -> tuple[ExplainPage, ...]:
    """The documents of folders; one without any is refused."""
    found: list[ExplainPage] = []
    for folder in folders:
        before = len(found)
        for kind in KINDS:
            if (folder / f"{kind}.json").is_file():
                found.append(_page(folder, kind, {page.name for page in found}))
        if len(found) == before:
            raise UsageError(f"{folder}: not written by `trope explain` (it has no JSON document)")
    return tuple(found)


def _page(folder: Path, kind: Kind, taken: set[str]) -> ExplainPage:
    path = folder / f"{kind}.json"
    try:
        if path.stat().st_size > LARGEST:
            raise DataError(f"{path}: larger than {LARGEST >> 20} MiB")
        document = orjson.loads(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    except ValueError as error:
        raise DataError(f"{path}: not a JSON document ({error})") from None
    if not isinstance(document, dict):
        raise DataError(f"{path}: not written by `trope explain`")
    name = kind if kind not in taken else f"{kind}-{len(taken) + 1}"
    return ExplainPage(name, kind, KINDS[kind], document)


def _named(value: Any) -> list[str]:
    return list(dict.fromkeys(_rows(value)))


def _rows(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in ROWS and isinstance(inner, str):
                yield inner
            elif name in LISTS and isinstance(inner, list):
                yield from (item for item in inner if isinstance(item, str))
                yield from _rows([item for item in inner if not isinstance(item, str)])
            else:
                yield from _rows(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _rows(inner)

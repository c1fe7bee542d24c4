"""Data sets as they are now, beside what an index knows of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import pyarrow as pa

from trope.data.digests import digest
from trope.data.pairs import Pairs
from trope.data.readers import open as open_pairs
from trope.errors import TropeError, UsageError
from trope.index import Engine
from trope.index.filters.tree import Compare, Every
from trope.index.items import DIGEST, MODALITY, SOURCE
from trope.search.hits import plain_lines
from trope.web.refusals import ChangedError, NotThereError

LOOKED = 32  # pictures of a data set that are compared when it is opened
ENOUGH = 0.5  # of them that must be the same for a data set to be one that was moved

Line: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Data:
    """A data set that is open, and which row has which id."""

    pairs: Pairs
    rows: dict[str, int] = field(repr=False)

    def number(self, row: str) -> int:
        """The number of a row by its id."""
        found = self.rows.get(row)
        if found is None:
            raise NotThereError("the picture is not in its data set any more")
        return found

    def read(self, line: Line) -> bytes:
        """The picture of an item by its line; another one than was indexed is refused."""
        content = self.pairs.images.read(self.number(line["id"]))
        known = line.get(DIGEST)
        if known is not None and digest(content).hex() != known:
            raise ChangedError("the picture has changed since it was indexed")
        return content

    def same(self, lines: Sequence[Line]) -> int:
        """How many of these items have the picture that was indexed."""
        return sum(self._same(line) for line in lines)

    def _same(self, line: Line) -> bool:
        with suppress(TropeError):
            self.read(line)
            return True
        return False


def opened_data(place: str) -> Data:
    """A data set by its place."""
    pairs = open_pairs(place, collect=True)
    names: pa.ChunkedArray = pairs.column("id")
    return Data(pairs, {name: row for row, name in enumerate(names.to_pylist())})


def looked_at(engine: Engine, source: int) -> list[Line]:
    """A few items of an index that have their pictures in one of its data sets."""
    chosen = Every((Compare(MODALITY, "=", "image"), Compare(SOURCE, "=", source)))
    try:
        keys = engine.find(chosen, LOOKED)
    except UsageError:  # an index without items has no such columns
        return []
    return [line for line in plain_lines(engine.get(keys).rows) if line.get("image") is not None]


def fitting(given: Sequence[Data], lines: Sequence[Line]) -> Data | None:
    """The first data set that has the pictures of these items, or most of them."""
    fits = (data for data in given if lines and data.same(lines) > ENOUGH * len(lines))
    return next(fits, None)

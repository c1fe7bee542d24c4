"""The data sets behind an index: the only files that pictures are ever read from."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from trope.data.images import TURNS, opened
from trope.data.pairs import Pairs
from trope.data.readers import open as open_pairs
from trope.errors import DataError, TropeError, UsageError
from trope.index import Engine
from trope.index.items import SOURCE
from trope.recent import Recent
from trope.search.hits import plain_lines
from trope.web.refusals import NotThereError

SIZES = 200_000  # pictures whose width and height are remembered
ORIENTATION = 0x0112
SIDEWAYS = 5  # and above: turned by a quarter


@dataclass(frozen=True)
class Data:
    """A data set that is open, and which row has which id."""

    pairs: Pairs
    rows: dict[str, int]


class Sources:
    """Pictures by the key of an item that is in the index; nothing else can be named."""

    def __init__(self, engine: Engine, places: Sequence[str]) -> None:
        self._engine, self._places = engine, list(places)
        self._open: dict[str, Data | None] = {}
        self._lock = threading.Lock()
        self._sizes: Recent[tuple[str, str], tuple[int, ...]] = Recent(SIZES)

    def line(self, key: str) -> dict[str, Any]:
        """The line of an item; refused if the index has no such item."""
        try:
            rows = self._engine.get([key]).rows
        except UsageError:
            raise NotThereError(f"there is no item '{key[:200]}'") from None
        return plain_lines(rows)[0]

    def read(self, key: str) -> bytes:
        """The encoded picture of an item's row."""
        line = self.line(key)
        source = line.get(SOURCE)
        if source is None or source >= len(self._places) or line.get("image") is None:
            raise NotThereError(f"item '{key[:200]}' has no picture")
        return self._read(line["id"], self._places[source])

    def size(self, row: str, place: str) -> tuple[int, int] | None:
        """Width and height of a row's picture, upright, from its header; None if unknown."""
        known = self._sizes.get((place, row))
        if known is None:
            try:
                known = _measured(self._read(row, place))
            except TropeError:
                known = ()
            self._sizes.put((place, row), known)
        return (known[0], known[1]) if known else None

    def open(self) -> list[str]:
        """Open all data sets; says which cannot be, and why."""
        problems = []
        for place in self._places:
            try:
                self._data(place)
            except TropeError as error:
                problems.append(str(error))
        return problems

    def _read(self, row: str, place: str) -> bytes:
        data = self._data(place)
        number = data.rows.get(row)
        if number is None:
            raise NotThereError("the picture is not in its data set any more")
        return data.pairs.images.read(number)

    def _data(self, place: str) -> Data:
        with self._lock:
            if place not in self._open:
                self._open[place] = None  # what cannot be opened is not tried again
                self._open[place] = _opened(place)
            found = self._open[place]
        if found is None:
            raise DataError("the data set of the picture cannot be read")
        return found


def _opened(place: str) -> Data:
    pairs = open_pairs(place, collect=True)
    names: pa.ChunkedArray = pairs.column("id")
    return Data(pairs, {name: row for row, name in enumerate(names.to_pylist())})


def _measured(data: bytes) -> tuple[int, int]:
    with opened(data, "picture") as image:
        turned = image.getexif().get(ORIENTATION, 1)
        wide, high = image.size
        return (high, wide) if turned in TURNS and turned >= SIDEWAYS else (wide, high)

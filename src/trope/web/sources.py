"""The data sets behind an index: the only files that pictures are ever read from."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from contextlib import suppress
from time import monotonic
from typing import Any

from PIL import Image

from trope.data.images import TURNS, opened
from trope.data.stores import FolderImages
from trope.errors import DataError, TropeError, UsageError
from trope.index import Engine
from trope.index.items import SOURCE
from trope.recent import Recent
from trope.search.hits import plain_lines
from trope.web.datasets import Data, fitting, looked_at, opened_data
from trope.web.refusals import ChangedError, NotThereError

SIZES = 200_000  # pictures whose width and height are remembered
HEAD = 2**16  # bytes of a file that are read to measure it
AGAIN = 60.0  # seconds until a picture that could not be measured is tried again
ORIENTATION = 0x0112
SIDEWAYS = 5  # and above: turned by a quarter


class Sources:
    """Pictures by the key of an item that is in the index; nothing else can be named.

    They are read from where the index says, or from one of the data sets that are `given` if that
    has the same pictures. One that has changed since it was indexed is not shown.
    """

    def __init__(self, engine: Engine, places: Sequence[str], given: Sequence[Data] = ()) -> None:
        self._engine, self._places, self._given = engine, list(places), given
        self._open: dict[str, Data | None] = {}
        self.changed = False  # whether a picture was met that is not the one that was indexed
        self._lock = threading.Lock()
        self._sizes: Recent[tuple[str, str], tuple[int, int]] = Recent(SIZES)
        self._failed: Recent[tuple[str, str], float] = Recent(SIZES)

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
        try:
            return self._data(self._places[source]).read(line)
        except ChangedError:
            self.changed = True
            raise

    def size(self, row: str, place: str) -> tuple[int, int] | None:
        """Width and height of a row's picture, upright, from its header; None if unknown."""
        known = self._sizes.get((place, row))
        if known is not None or monotonic() < (self._failed.get((place, row)) or 0.0):
            return known
        try:
            return self._sizes.put((place, row), self._size(row, place))
        except TropeError:
            self._failed.put((place, row), monotonic() + AGAIN)
            return None

    def _size(self, row: str, place: str) -> tuple[int, int]:
        """From the first bytes of a file where they say it, else from all of them."""
        data = self._data(place)
        pairs, number = data.pairs, data.number(row)
        if isinstance(pairs.images, FolderImages):
            with suppress(DataError):  # some formats say it further on
                return _measured(pairs.images.head(number, HEAD))
        return _measured(pairs.images.read(number))

    def open(self) -> list[str]:
        """Open all data sets; says which cannot be, or have other pictures."""
        problems = []
        for number, place in enumerate(self._places):
            try:
                problems += self._compared(place, number)
            except TropeError as error:
                problems.append(str(error))
        return problems

    def uses(self, data: Data) -> bool:
        """Whether pictures are read from a data set that was given."""
        return any(data is one for one in self._open.values())

    def _compared(self, place: str, number: int) -> list[str]:
        """A few pictures beside what the index knows of them."""
        data, lines = self._data(place), looked_at(self._engine, number)
        others = len(lines) - data.same(lines)
        if not others:
            return []
        self.changed = True
        told = f"{others} of {len(lines)} that were looked at are not there as they were indexed"
        return [f"{data.pairs.source}: {told}"]

    def _data(self, place: str) -> Data:
        with self._lock:
            if place not in self._open:
                self._open[place] = None  # what cannot be opened is not tried again
                self._open[place] = self._found(place)
            found = self._open[place]
        if found is None:
            raise DataError("the data set of the picture cannot be read")
        return found

    def _found(self, place: str) -> Data:
        lines = looked_at(self._engine, self._places.index(place)) if self._given else []
        return fitting(self._given, lines) or opened_data(place)


def _measured(data: bytes) -> tuple[int, int]:
    with opened(data, "picture") as image:
        # not a PNG's own method, which decodes all pixels to look for what may stand after them
        turned = Image.Image.getexif(image).get(ORIENTATION, 1)
        wide, high = image.size
        return (high, wide) if turned in TURNS and turned >= SIDEWAYS else (wide, high)

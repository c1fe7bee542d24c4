"""Python rows turned into Arrow columns, block by block, so that no row outlives its block."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa
from jaxtyping import Int

from trope.data import naming
from trope.data.readers.cells import Column, extra, joined, known
from trope.data.rejects import Rejects
from trope.data.schema import KNOWN, SCHEMA, canonical

Row = dict[str, Any]
GROUP = 16  # blocks that become one chunk: small blocks read fast, large chunks are found fast


@contextmanager
def undisturbed() -> Iterator[None]:
    """Without the cyclic collector: fresh rows hold no cycles and die with their block."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


class Columns:
    """Takes rows with their line numbers and gives back one canonical table."""

    def __init__(self, rejects: Rejects, mapping: naming.Columns) -> None:
        self.rejects = rejects
        self.mapping = mapping
        self.tables: list[pa.Table] = []
        self.recent: list[pa.Table] = []
        self.lines: list[Int[np.ndarray, " rows"]] = []
        self.there: dict[str, None] = {}  # names as they stand in the file, of all blocks

    def add(
        self, lines: Sequence[int], rows: Sequence[Row], raws: Sequence[bytes] | None = None
    ) -> None:
        """Append a block; a row whose known fields cannot be used is rejected with its line."""
        bad: dict[int, str] = {}
        there = list(dict.fromkeys(chain.from_iterable(rows)))
        names = naming.meant(there, self.mapping, self.rejects.origin)
        cells = _columns(there, rows)
        columns = [_column(name, column, bad) for name, column in zip(names, cells, strict=True)]
        if bad:
            for i, reason in sorted(bad.items()):
                self.rejects.add(
                    lines[i], reason, raws[i].removesuffix(b"\r") if raws else _raw(rows[i])
                )
            good = [i for i in range(len(rows)) if i not in bad]
            self.add([lines[i] for i in good], [rows[i] for i in good])
        elif rows:
            self.there.update(dict.fromkeys(there))
            empty = [known("id", [None] * len(rows), bad)]  # rows without any field are rows still
            self._append(np.array(lines, np.int64), columns or empty)

    def table(self) -> tuple[pa.Table, Int[np.ndarray, " rows"]]:
        """All rows as one table, and their lines."""
        self._settle()
        if not self.tables:
            return SCHEMA.empty_table(), np.empty(0, np.int64)
        names = naming.meant(self.there, self.mapping, self.rejects.origin)
        naming.require(names, self.rejects.origin, self.mapping)
        return _unify(self.tables), np.concatenate(self.lines)

    def _append(self, lines: Int[np.ndarray, " rows"], columns: Sequence[Column]) -> None:
        fields, arrays = zip(*columns, strict=True)
        raw = pa.table(list(arrays), schema=pa.schema(fields))
        self.recent.append(canonical(raw, lines, self.rejects.origin))
        self.lines.append(lines)
        if len(self.recent) == GROUP:
            self._settle()

    def _settle(self) -> None:
        if self.recent:
            self.tables.append(_unify(self.recent).combine_chunks())
            self.recent.clear()


def _columns(names: Sequence[str], rows: Sequence[Row]) -> Iterator[list[Any]]:
    """The cells under each name; rows that all have every name are read the faster way."""
    complete = set(map(len, rows)) == {len(names)}
    for name in names:
        cells = map(itemgetter(name), rows) if complete else (row.get(name) for row in rows)
        yield list(cells)


def _column(name: str, cells: list[Any], bad: dict[int, str]) -> Column:
    return known(name, cells, bad) if name in KNOWN else extra(name, cells, bad)


def _raw(row: Row) -> str:
    try:
        return json.dumps(row, ensure_ascii=False, default=str)
    except RecursionError:
        return str(row.get("id"))


def _unify(tables: Sequence[pa.Table]) -> pa.Table:
    """Blocks under one schema, each column in the narrowest type that holds all of its cells."""
    names = dict.fromkeys(name for table in tables for name in table.column_names)
    fields, arrays = zip(*(joined(name, tables) for name in names), strict=True)
    return pa.table(list(arrays), schema=pa.schema(fields))

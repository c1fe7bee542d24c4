"""A data set in memory: Arrow columns, one row per pair, no Python object per row."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Bool, Int

from trope.data.documents import loads
from trope.data.fingerprints import fingerprint
from trope.data.rejects import Rejected, Unit
from trope.data.schema import JSON_MARK, SCHEMA, SPLIT_ALIASES
from trope.data.selection import select
from trope.data.stores import ImageStore
from trope.errors import UsageError, suggestion
from trope.types import Pair

Rows = Int[np.ndarray, " rows"]


@dataclass(frozen=True, eq=False)
class Pairs:
    """Image-text pairs in columns; selections share the columns they were made from.

    `lines` is where each row stood in its file: its line, or the running number of its row where
    there are no lines (`unit` says which). `rejected` is what could not be read at all, `remarks`
    what the reader had to say about the whole, `source` what was opened.
    """

    table: pa.Table = field(repr=False)
    images: ImageStore = field(repr=False)
    root: Path
    lines: Rows = field(repr=False)
    source: Path = field(repr=False)
    rejected: tuple[Rejected, ...] = field(default=(), repr=False)
    remarks: tuple[str, ...] = field(default=(), repr=False)
    unit: Unit = field(default="line", repr=False)

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def __getitem__(self, row: int) -> Pair:
        if not -len(self) <= row < len(self):
            raise IndexError(row)
        return next(self._pairs(self.table.slice(row % len(self), 1)))

    def __iter__(self) -> Iterator[Pair]:
        for batch in self.table.to_batches(max_chunksize=1_024):
            yield from self._pairs(batch)

    @property
    def extra_columns(self) -> list[str]:
        """Names of the columns beyond the known ones."""
        return [name for name in self.table.column_names if name not in SCHEMA.names]

    @property
    def ids(self) -> list[str]:
        """The rows' names."""
        return list(self.table.column("id").to_pylist())

    def column(self, name: str) -> pa.ChunkedArray:
        """One column as Arrow data."""
        if name not in self.table.column_names:
            known = self.table.column_names
            raise UsageError(f"{self.source}: no column '{name}'{suggestion(name, known)}")
        return self.table.column(name)

    @cached_property
    def has_image(self) -> Bool[np.ndarray, " rows"]:
        """Which rows have a picture."""
        return np.asarray(self.table.column("image").is_valid())

    @cached_property
    def text_counts(self) -> Int[np.ndarray, " rows"]:
        """How many texts each row has."""
        return np.asarray(pc.list_value_length(self.table.column("texts")), dtype=np.int64)

    def flat_texts(self) -> tuple[pa.ChunkedArray, Int[np.ndarray, " texts"]]:
        """All texts one after the other, and the row each belongs to."""
        return pc.list_flatten(self.table.column("texts")), np.repeat(
            np.arange(len(self)), self.text_counts
        )

    def place(self, row: int) -> str:
        """Where a row stands, as a user can find it: `line 17`."""
        return f"{self.unit} {self.lines[row]}"

    def take(self, rows: Rows) -> Pairs:
        """A selection of rows, in the given order."""
        rows = np.asarray(rows, dtype=np.int64)
        return replace(
            self,
            table=select(self.table, rows),
            images=self.images.take(rows),
            lines=self.lines[rows],
        )

    def where(self, mask: Bool[np.ndarray, " rows"]) -> Pairs:
        """The rows for which `mask` is true."""
        return self.take(np.flatnonzero(mask))

    def in_split(self, *names: str) -> Pairs:
        """The rows of one or more splits."""
        known = [SPLIT_ALIASES.get(name, name) for name in names]
        wanted = pc.is_in(self.table.column("split"), value_set=pa.array(known, pa.string()))
        return self.where(np.asarray(wanted))

    def with_column(self, name: str, values: pa.Array | pa.ChunkedArray) -> Pairs:
        """The same rows with one column set; `image` is bound to where the pictures lie."""
        if name == "image":
            raise ValueError("the image column cannot be replaced: pictures are read by row")
        if name in self.table.column_names:
            position = self.table.column_names.index(name)
            return replace(self, table=self.table.set_column(position, name, values))
        return replace(self, table=self.table.append_column(name, values))

    @cached_property
    def fingerprint(self) -> str:
        """A digest of everything in the columns (not of the pictures' bytes)."""
        return fingerprint(self.table)

    def _pairs(self, part: pa.Table | pa.RecordBatch) -> Iterator[Pair]:
        json_columns = {f.name for f in part.schema if f.metadata == JSON_MARK}
        for row in part.to_pylist():
            known = {name: row.pop(name) for name in SCHEMA.names}
            for name in json_columns & row.keys():
                row[name] = None if row[name] is None else loads(row[name])
            known["texts"], known["labels"] = tuple(known["texts"]), tuple(known["labels"])
            yield Pair(**known, extra=row)

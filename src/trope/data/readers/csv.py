"""Tables as CSV or TSV: one bad row costs that row, not the file, and is named by its line."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from itertools import chain
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Int

from trope.data import naming
from trope.data.readers.cells import CONVERTED, LISTED, UnfitError
from trope.data.readers.lines import not_utf8
from trope.data.readers.opened import Opened
from trope.data.readers.records import Block, long_cells, records
from trope.data.readers.rows import undisturbed
from trope.data.rejects import Rejects
from trope.data.schema import KNOWN, LISTS, blank_to_null, canonical, single_lists
from trope.data.stores import FolderImages
from trope.errors import DataError

SEPARATOR = "|"


def read(path: Path, rejects: Rejects, mapping: naming.Columns) -> Opened:
    """Read a CSV with a header; `labels` cells are split at `|`, `texts` cells are JSON lists."""
    with undisturbed(), long_cells():
        blocks = records(path)
        names = _header(path, first := next(blocks), mapping)
        parts = [_part(block, names, rejects) for block in chain([first], blocks)]
    lines = np.concatenate([lines for lines, _ in parts])
    cells = pa.Table.from_batches([batch for _, batch in parts])
    columns = [_typed(name, cells.column(name)) for name in names]
    table = canonical(pa.table(columns, names=names), lines, str(path))
    return Opened(table, lines, FolderImages(path.parent, table.column("image")))


def _header(path: Path, block: Block, mapping: naming.Columns) -> list[str]:
    """Take the names of the columns off the first block; one without a name gets its number."""
    if not block.rows or (block.broken and block.broken[0][0] < block.lines[0]):
        reason = block.broken[0][1] if block.broken else "not valid CSV (the header does not end)"
        raise DataError(f"{path}:{block.broken[0][0] if block.broken else 1}: {reason}")
    header, raw, line = block.rows.pop(0), block.raws.pop(0), block.lines.pop(0)
    if not _is_text(raw):
        raise DataError(f"{path}:{line}: {not_utf8(raw)}")
    there = [name.strip() or f"column {i}" for i, name in enumerate(header, 1)]
    names = naming.meant(there, mapping, str(path))
    naming.require(names, str(path), mapping, "the first line has to name the columns")
    return names


def _part(
    block: Block, names: list[str], rejects: Rejects
) -> tuple[Int[np.ndarray, " rows"], pa.RecordBatch]:
    """Lines and cells of a block; what cannot be used is rejected."""
    if not block.broken and {len(names)}.issuperset(map(len, block.rows)):
        try:
            return _batch(block.lines, block.rows, names)
        except UnicodeEncodeError:
            pass
    reasons = [_fault(row, names) for row in block.rows]
    faults = zip(block.lines, reasons, block.raws, strict=True)
    for line, reason, raw in sorted([*block.broken, *faults]):
        if reason:
            rejects.add(line, reason, raw.removesuffix("\r"))
    good = [i for i, row in enumerate(block.rows) if row and not reasons[i]]
    return _batch([block.lines[i] for i in good], [block.rows[i] for i in good], names)


def _batch(
    lines: list[int], rows: list[list[str]], names: list[str]
) -> tuple[Int[np.ndarray, " rows"], pa.RecordBatch]:
    columns = list(zip(*rows, strict=True)) or [()] * len(names)
    arrays = [pa.array(column, pa.string()) for column in columns]
    return np.array(lines, np.int64), pa.RecordBatch.from_arrays(arrays, names)


def _fault(row: list[str], names: list[str]) -> str:
    """Why a row cannot be used; a blank line says nothing, which is no fault."""
    if row and len(row) != len(names):
        loose = any(cell.lstrip(" ").startswith('"') for cell in row)
        blank = "; there is a blank before a quotation mark" if loose else ""
        return f"{len(row)} cells where the header has {len(names)}{blank}"
    bad = [(name, cell) for name, cell in zip(names, row, strict=False) if not _is_text(cell)]
    return f"'{bad[0][0]}' is {not_utf8(bad[0][1])}" if bad else ""


def _is_text(cell: str) -> bool:
    return not any("\udc80" <= letter <= "\udcff" for letter in cell)


def _typed(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cells in the type of their column; an empty cell is a gap."""
    column = blank_to_null(column)
    if name in LISTED:
        return _lists(name, column)
    return column if name in KNOWN else _numbers(column)


def _lists(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cells such as `["one", "another"]`; else `one|another` for labels, one text for texts."""
    if not pc.any(pc.starts_with(column, "[")).as_py():
        return _labels(column) if name == "labels" else single_lists(column)
    made = [_list(name, cell) for cell in column.to_pylist()]
    return pa.chunked_array([pa.array(made, LISTS)])


def _labels(column: pa.ChunkedArray) -> pa.ChunkedArray:
    chunks = []
    for chunk in column.chunks:
        parts = pc.split_pattern(chunk, SEPARATOR)  # with the blanks around it
        values = pc.utf8_trim_whitespace(parts.values)
        chunks.append(pa.ListArray.from_arrays(parts.offsets, values))
    return pa.chunked_array(chunks, LISTS)


def _list(name: str, cell: str | None) -> Sequence[str | None]:
    if not cell:
        return []
    if cell.startswith("["):
        with suppress(orjson.JSONDecodeError, UnfitError):
            return CONVERTED[name](orjson.loads(cell))
    return [part.strip() for part in cell.split(SEPARATOR)] if name == "labels" else [cell]


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of numbers as numbers, if they can be written back the same: `007` stays a text."""
    for kind in (pa.int64(), pa.float64()):
        try:
            numbers = column.cast(kind)
        except pa.ArrowInvalid:
            continue
        same = pc.and_(pc.equal(numbers.cast(pa.string()), column), pc.is_finite(numbers))
        if pc.all(same).as_py():
            return numbers
    return column

"""Cells of foreign Arrow data made sure of: a text may not be UTF-8, and a file may lie."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Int

from trope.data.rejects import Rejects
from trope.errors import DataError


def readable(
    table: pa.Table, lines: Int[np.ndarray, " rows"], rejects: Rejects
) -> tuple[pa.Table, Int[np.ndarray, " good"]]:
    """The rows all of whose texts are UTF-8, without foreign metadata; the others are rejected."""
    fields = [field.remove_metadata() for field in table.schema]
    table = pa.table(table.columns, schema=pa.schema(fields))
    bad: dict[int, str] = {}
    for name, column in zip(table.column_names, table.columns, strict=True):
        try:
            bad |= dict.fromkeys(_bad_rows(column), name)
        except pa.ArrowInvalid as error:
            raise DataError(f"{rejects.origin}: column '{name}' is damaged ({error})") from None
    for row, name in sorted(bad.items()):
        rejects.add(int(lines[row]), f"'{name}' is not UTF-8 text", _raw(table.slice(row, 1)))
    good = np.setdiff1d(np.arange(len(table)), np.fromiter(bad, np.int64, len(bad)))
    return (table.take(pa.array(good)) if bad else table), lines[good]


def _bad_rows(column: pa.ChunkedArray) -> Iterator[int]:
    start = 0
    for chunk in column.chunks:
        yield from (start + row for row in _bad(chunk))
        start += len(chunk)


def _bad(array: pa.Array) -> list[int]:
    """Positions whose text is not UTF-8; any other fault of the data is raised."""
    if _is_valid(array):
        return []
    if pa.types.is_dictionary(array.type):
        return _bad(array.dictionary_decode())
    if pa.types.is_struct(array.type):
        return sorted({row for part in array.flatten() for row in _bad(part)})
    if pa.types.is_nested(array.type):
        lengths = np.asarray(pc.fill_null(pc.list_value_length(array), 0))
        owners = np.repeat(np.arange(len(array)), lengths)
        return sorted({int(row) for row in owners[_bad(array.flatten())]})
    if len(array) == 1:
        return [0]
    half = len(array) // 2
    return _bad(array.slice(0, half)) + [half + row for row in _bad(array.slice(half))]


def _is_valid(array: pa.Array) -> bool:
    try:
        array.validate(full=True)
    except pa.ArrowInvalid as error:
        if "UTF8" not in str(error):
            raise
        return False
    return True


def _raw(row: pa.Table) -> str:
    """What can still be said of a row with a broken text."""
    whole = {
        name: column.to_pylist()[0]
        for name, column in zip(row.column_names, row.columns, strict=True)
        if not list(_bad_rows(column))
    }
    return str(whole)

"""Rows picked out of a table of any size: Arrow's own `take` fails where a column exceeds 2 GiB."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from jaxtyping import Int

SMALL = 2**30  # bytes; below this, no column can overflow its 32-bit offsets
PIECE = 2**12  # rows that are copied at a time

Rows = Int[np.ndarray, " rows"]


def select(table: pa.Table, rows: Rows) -> pa.Table:
    """The rows in the given order."""
    if table.nbytes < SMALL:
        return table.take(pa.array(rows))
    if len(rows) and rows[0] >= 0 and (np.diff(rows) > 0).all():
        mask = np.zeros(len(table), bool)
        mask[rows] = True
        return table.filter(pa.array(mask))
    return pa.table([_pieces(column, rows) for column in table.columns], schema=table.schema)


def _pieces(column: pa.ChunkedArray, rows: Rows) -> pa.ChunkedArray:
    """The same through 64-bit offsets, back in chunks that 32 bits can address."""
    wide = column.cast(_wide(column.type)).combine_chunks()
    starts = range(0, len(rows), PIECE)
    parts = [wide.take(pa.array(rows[start : start + PIECE])) for start in starts]
    return pa.chunked_array([part.cast(column.type) for part in parts], column.type)


def _wide(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_list(kind):
        return pa.large_list(_wide(kind.value_type))
    if pa.types.is_string(kind):
        return pa.large_string()
    return pa.large_binary() if pa.types.is_binary(kind) else kind

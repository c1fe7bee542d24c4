"""Which rows of a table a filter lets pass, computed by Arrow over whole columns."""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Bool

from trope.index.filters.kinds import moment, plain, temporal
from trope.index.filters.numbers import in_whole, real
from trope.index.filters.tree import (
    Contains,
    Every,
    Filter,
    In,
    Missing,
    Not,
    Some,
    Value,
)

DAY = len("2020-12-31")
LARGEST = 2**63  # from here on no number of Arrow's own
DIGITS = 19  # that Arrow gives one; as many must be left of the 38 that decimals have

COMPARED: dict[str, Any] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def mask(where: Filter, table: pa.Table) -> Bool[np.ndarray, " rows"]:
    """Whether each row passes a filter that was checked; a column that is not there is empty."""
    if isinstance(where, Not):
        return ~mask(where.part, table)
    if isinstance(where, (Every, Some)):
        join = np.logical_and if isinstance(where, Every) else np.logical_or
        return np.asarray(reduce(join, (mask(part, table) for part in where.parts)))
    if where.column not in table.column_names:
        return np.full(len(table), isinstance(where, Missing))
    column = _plain(table.column(where.column))
    if isinstance(where, Missing) or pa.types.is_null(column.type):
        return np.asarray(column.is_null()) & isinstance(where, Missing)
    if isinstance(where, Contains):
        return _containing(column, where.value)
    if isinstance(where, In) and pa.types.is_string(column.type):
        return np.asarray(pc.is_in(column, value_set=pa.array(where.values, pa.string())), bool)
    if isinstance(where, In):
        parts = (_compared(column, "=", value) for value in where.values)
        return np.asarray(reduce(np.logical_or, parts))
    return _compared(column, where.operator, where.value)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column whose values Arrow compares."""
    kind = plain(column.type)
    return column if kind == column.type else column.cast(kind)


def _compared(column: pa.ChunkedArray, operator: str, value: Value) -> Bool[np.ndarray, " rows"]:
    """A comparison; false for a missing value, also for one that is no number."""
    if pa.types.is_integer(column.type) and not isinstance(value, str):
        same = in_whole(operator, value, column.type)
        if isinstance(same, bool):
            return np.asarray(column.is_valid()) & same
        operator, value = same
    if pa.types.is_date(column.type) and len(str(value)) > DAY:  # there are times in the other part
        column = column.cast(pa.timestamp("us"))
    found = COMPARED[operator](column, _scalar(value, column.type))
    if pa.types.is_floating(column.type):
        found = pc.and_(found, pc.invert(pc.is_nan(column)))
    return np.asarray(pc.fill_null(found, False), bool)


def _scalar(value: Value, kind: pa.DataType) -> pa.Scalar:
    """A number stays what it is: 2.5 is no whole number, whatever the column holds."""
    if isinstance(value, str):
        return moment(value, kind) if temporal(kind) else pa.scalar(value).cast(kind)
    if pa.types.is_integer(kind) or pa.types.is_boolean(kind):
        return pa.scalar(value, kind)
    exact = pa.types.is_decimal(kind) and kind.scale < DIGITS and isinstance(value, int)
    return pa.scalar(value if exact and abs(value) < LARGEST else real(value))


def _containing(column: pa.ChunkedArray, value: Value) -> Bool[np.ndarray, " rows"]:
    found = np.zeros(len(column), bool)
    start = 0
    for chunk in column.chunks:
        there = np.flatnonzero(np.asarray(chunk.is_valid()))
        lists = chunk.drop_null()  # those that are missing may have entries behind them
        equal = _compared(pa.chunked_array([lists.flatten()]), "=", value)
        parents = np.asarray(pc.list_parent_indices(lists), np.int64)
        found[start + there[parents[equal]]] = True
        start += len(chunk)
    return found

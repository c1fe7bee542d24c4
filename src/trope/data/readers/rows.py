"""Python rows turned into Arrow columns, block by block, so that no row outlives its block."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from jaxtyping import Int

from trope.data.rejects import Rejects
from trope.data.schema import JSON_MARK, SCHEMA, canonical, require

Row = dict[str, Any]
Column = tuple[pa.Field, pa.Array]
UNFIT = (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, OverflowError)


class Columns:
    """Takes rows with their line numbers and gives back one canonical table."""

    def __init__(self, rejects: Rejects) -> None:
        self.rejects = rejects
        self.tables: list[pa.Table] = []
        self.lines: list[Int[np.ndarray, "rows"]] = []
        self.names: dict[str, None] = {}

    def add(self, numbered: Sequence[tuple[int, Row]]) -> None:
        """Append a block; a row whose known fields cannot be used is rejected with its line."""
        bad: dict[int, str] = {}
        columns = [
            _column(name, [row.get(name) for _, row in numbered], bad)
            for name in self._names(numbered)
        ]
        if bad:
            for i, reason in sorted(bad.items()):
                self.rejects.add(numbered[i][0], reason, orjson.dumps(numbered[i][1]))
            self.add([item for i, item in enumerate(numbered) if i not in bad])
        elif columns:
            lines = np.array([line for line, _ in numbered], np.int64)
            fields, arrays = zip(*columns, strict=True)
            raw = pa.table(list(arrays), schema=pa.schema(fields))
            self.tables.append(canonical(raw, lines, self.rejects.origin))
            self.lines.append(lines)

    def table(self) -> tuple[pa.Table, Int[np.ndarray, "rows"]]:
        """All rows as one table, and their lines."""
        if not self.tables:
            return SCHEMA.empty_table(), np.empty(0, np.int64)
        require(self.names, self.rejects.origin)
        return _unify(self.tables), np.concatenate(self.lines)

    def _names(self, numbered: Sequence[tuple[int, Row]]) -> list[str]:
        shapes = dict.fromkeys(tuple(row) for _, row in numbered)
        names = dict.fromkeys(name for shape in shapes for name in shape)
        self.names.update(names)
        return list(names)


class _Unfit(Exception):
    """A value that cannot stand in a known column."""


def _scalar(value: Any) -> str | None:
    """A string, or a number as one; `NaN`, which table tools write for a gap, is a gap."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _Unfit(f"expected text, found {type(value).__name__}")
    return None if isinstance(value, float) and math.isnan(value) else str(value)


def _listed(value: Any) -> list[str]:
    values = value if isinstance(value, list) else [value]
    return [item for item in map(_scalar, values) if item is not None]


_LIST = pa.list_(pa.string())
KINDS: dict[str, tuple[pa.DataType, Callable[[Any], Any]]] = {
    "id": (pa.string(), _scalar),
    "image": (pa.string(), _scalar),
    "text": (pa.string(), _scalar),
    "texts": (_LIST, _listed),
    "labels": (_LIST, _listed),
    "group": (pa.string(), _scalar),
    "split": (pa.string(), _scalar),
}


def _column(name: str, values: list[Any], bad: dict[int, str]) -> Column:
    """One column of a block; rows that do not fit a known column are noted in `bad`."""
    if name not in KINDS:
        return _extra(name, values)
    kind, convert = KINDS[name]
    try:
        return pa.field(name, kind), pa.array(values, kind)
    except UNFIT:
        made = [_attempt(name, convert, value, i, bad) for i, value in enumerate(values)]
        return pa.field(name, kind), pa.array(made, kind)


def _attempt(
    name: str, convert: Callable[[Any], Any], value: Any, i: int, bad: dict[int, str]
) -> Any:
    try:
        return convert(value)
    except _Unfit as error:
        bad.setdefault(i, f"'{name}': {error}")
        return None


def _extra(name: str, values: list[Any]) -> Column:
    """An extra column: its own Arrow type where it has one, else each cell as a JSON document."""
    try:
        array = pa.array(values)
    except UNFIT:
        return _json(name, values)
    if "struct" in str(array.type):
        return _json(name, values)
    return pa.field(name, array.type), array


def _json(name: str, values: list[Any]) -> Column:
    cells = [None if value is None else orjson.dumps(value).decode() for value in values]
    return pa.field(name, pa.string(), metadata=JSON_MARK), pa.array(cells, pa.string())


def _unify(tables: list[pa.Table]) -> pa.Table:
    """Blocks under one schema: a column whose type changes on the way becomes JSON documents."""
    names = dict.fromkeys(name for table in tables for name in table.column_names)
    fields = [_common(name, [t.schema.field(name) for t in tables if name in t.column_names]) for name in names]
    return pa.concat_tables(_conform(table, fields) for table in tables)


def _common(name: str, fields: list[pa.Field]) -> pa.Field:
    kinds = {field.type for field in fields if not pa.types.is_null(field.type)}
    if any(field.metadata for field in fields) or len(kinds) > 1:
        numbers = kinds == {pa.int64(), pa.float64()} and not any(field.metadata for field in fields)
        return pa.field(name, pa.float64()) if numbers else _json(name, [])[0]
    return pa.field(name, kinds.pop() if kinds else pa.null())


def _conform(table: pa.Table, fields: list[pa.Field]) -> pa.Table:
    columns = []
    for field in fields:
        if field.name not in table.column_names:
            columns.append(pa.nulls(table.num_rows, field.type))
        elif field.metadata and not table.schema.field(field.name).metadata:
            columns.append(_json(field.name, table.column(field.name).to_pylist())[1])
        else:
            columns.append(table.column(field.name).cast(field.type))
    return pa.table(columns, schema=pa.schema(fields))

"""The cells of one column as an Arrow array: known columns as text, extra ones in their type."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import chain
from typing import Any

import pyarrow as pa

from trope.data.documents import dumps
from trope.data.schema import JSON_MARK, LISTS

Column = tuple[pa.Field, pa.Array | pa.ChunkedArray]
UNFIT = (pa.ArrowInvalid, pa.ArrowTypeError, TypeError, OverflowError, UnicodeEncodeError)
SCALARS = {str: pa.string(), int: pa.int64(), float: pa.float64(), bool: pa.bool_()}
WORDS = {dict: "an object", list: "a list", bool: "true or false"}
LISTED = ("texts", "labels")


class UnfitError(Exception):
    """A value that cannot stand in a known column."""


def known(name: str, cells: list[Any], bad: dict[int, str]) -> Column:
    """A column of texts or lists of texts; cells that cannot be either are noted in `bad`."""
    kind, convert = (LISTS, CONVERTED[name]) if name in LISTED else (pa.string(), scalar)
    try:
        if name in LISTED and not {list, type(None)}.issuperset(map(type, cells)):
            raise TypeError  # Arrow would take a string for a list of letters
        return pa.field(name, kind), pa.array(cells, kind)
    except UNFIT:
        kind, convert = (LISTS, listed) if name == "text" else (kind, convert)
        made = [_attempt(name, convert, cell, i, bad) for i, cell in enumerate(cells)]
        return pa.field(name, kind), pa.array(made, kind)


def scalar(value: Any) -> str | None:
    """A string, or a number as one; `NaN`, which table tools write for a gap, is a gap."""
    if isinstance(value, str):
        if not value.isascii():
            _refuse_surrogates(value)
        return value
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise UnfitError(f"expected text, found {WORDS.get(type(value), type(value).__name__)}")
    return str(int(value) if isinstance(value, float) and value.is_integer() else value)


def listed(value: Any) -> list[str]:
    """A list of strings; a single value counts as a list of one, an empty string as none."""
    values = value if isinstance(value, list) else [] if value == "" else [value]
    return [item for item in map(scalar, values) if item is not None]


def labeled(value: Any) -> list[str | None]:
    """The same of labels, gaps included: they are told when all labels get their one form."""
    return list(map(scalar, value)) if isinstance(value, list) else list(listed(value))


CONVERTED: dict[str, Callable[[Any], Sequence[str | None]]] = {"texts": listed, "labels": labeled}


def extra(name: str, cells: list[Any], bad: dict[int, str]) -> Column:
    """An extra column: its own Arrow type where that is exact, else each cell as JSON."""
    kind = _kind(cells)
    if kind is not None:
        try:
            return pa.field(name, kind), pa.array(cells, kind, from_pandas=True)
        except UNFIT:
            pass
    made = [_attempt(name, document, cell, i, bad) for i, cell in enumerate(cells)]
    return pa.field(name, pa.string(), metadata=JSON_MARK), pa.array(made, pa.string())


def document(cell: Any) -> str | None:
    """A cell as JSON, provided a row around it can still be written."""
    if cell is None or cell != cell:  # NaN
        return None
    try:
        return dumps([[cell]])[2:-2].decode()
    except ValueError as error:
        raise UnfitError(str(error)) from None


def joined(name: str, tables: Sequence[pa.Table]) -> Column:
    """A column over all blocks; where its types cannot be one exactly, as JSON documents."""
    parts = [_part(name, table) for table in tables]
    kind = reduce(_merge, (None if field.metadata else field.type for field, _ in parts))
    try:
        if kind is not None:
            # Arrow damages lists of nulls when it casts them to what they are
            cast = (c if c.type == kind else c.cast(kind) for _, c in parts)
            chunks = [chunk for column in cast for chunk in column.chunks]
            return pa.field(name, kind), pa.chunked_array(chunks, kind)
    except pa.ArrowInvalid:  # a whole number no float can hold
        pass
    documents = [_documents(field, column) for field, column in parts]
    field = pa.field(name, pa.string(), metadata=JSON_MARK)
    return field, pa.chunked_array([c for part in documents for c in part.chunks], pa.string())


def _attempt(
    name: str, convert: Callable[[Any], Any], value: Any, i: int, bad: dict[int, str]
) -> Any:
    try:
        return convert(value)
    except UnfitError as error:
        bad.setdefault(i, f"'{name}': {error}")
        return None


def _refuse_surrogates(value: str) -> None:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise UnfitError("not UTF-8 text") from None


def _kind(cells: list[Any]) -> pa.DataType | None:
    """The one Arrow type that holds these cells without changing any; lists of scalars at most."""
    types = set(map(type, cells)) - {type(None)}
    if types != {list}:
        return _scalar_kind(types)
    within = _scalar_kind(set(map(type, chain.from_iterable(filter(None, cells)))) - {type(None)})
    return None if within is None else pa.list_(within)


def _scalar_kind(types: set[type]) -> pa.DataType | None:
    if types == {int, float}:
        return pa.float64()
    return SCALARS.get(*types) if len(types) == 1 else None if types else pa.null()


def _part(name: str, table: pa.Table) -> Column:
    if name in table.column_names:
        return table.schema.field(name), table.column(name)
    return pa.field(name, pa.null()), pa.chunked_array([pa.nulls(table.num_rows)])


def _merge(first: pa.DataType | None, second: pa.DataType | None) -> pa.DataType | None:
    """The type that holds both exactly; None where only JSON does."""
    if first is None or second is None or first == second:
        return first if first == second else None
    if pa.types.is_null(first) or pa.types.is_null(second):
        return second if pa.types.is_null(first) else first
    if pa.types.is_list(first) and pa.types.is_list(second):
        within = _merge(first.value_type, second.value_type)
        return None if within is None else pa.list_(within)
    return pa.float64() if {first, second} == {pa.int64(), pa.float64()} else None


def _documents(field: pa.Field, column: pa.ChunkedArray) -> pa.ChunkedArray:
    if field.metadata or pa.types.is_null(field.type):
        return column.cast(pa.string())
    return pa.chunked_array([pa.array(map(document, column.to_pylist()), pa.string())])

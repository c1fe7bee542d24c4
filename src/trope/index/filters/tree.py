"""What a filter says, once it is parsed; and whether it fits the columns there are.

A comparison with a missing value is false, so that `not` is exactly the rest: two values, no third.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import isfinite
from typing import Literal, TypeAlias

import pyarrow as pa

from trope.data.schema import JSON_MARK
from trope.errors import UsageError, suggestion
from trope.index.filters.kinds import (
    EXAMPLES,
    comparable,
    described,
    entries,
    moment,
    numeric,
    plain,
    temporal,
    textual,
)

Value: TypeAlias = str | int | float | bool
PLAIN = re.compile(r"[^\W\d][\w-]*")  # a name that needs no quotes
OWN = "trope."  # what begins so is the index's own

Operator: TypeAlias = Literal["=", "!=", "<", "<=", ">", ">="]


@dataclass(frozen=True)
class Compare:
    """A column beside a value."""

    column: str
    operator: Operator
    value: Value


@dataclass(frozen=True)
class In:
    """A column whose value is one of several."""

    column: str
    values: tuple[Value, ...]


@dataclass(frozen=True)
class Contains:
    """A column of lists, such as labels, that has an entry."""

    column: str
    value: Value


@dataclass(frozen=True)
class Missing:
    """A column without a value."""

    column: str


@dataclass(frozen=True)
class Not:
    """All rows but these."""

    part: Filter


@dataclass(frozen=True)
class Every:
    """Rows that all parts let pass."""

    parts: tuple[Filter, ...]


@dataclass(frozen=True)
class Some:
    """Rows that one part or another lets pass."""

    parts: tuple[Filter, ...]


Filter: TypeAlias = Compare | In | Contains | Missing | Not | Every | Some


def check(where: Filter, schema: pa.Schema) -> None:
    """Refuse columns that are not there, and values that a column cannot have."""
    if isinstance(where, Not):
        check(where.part, schema)
    elif isinstance(where, (Every, Some)):
        for part in where.parts:
            check(part, schema)
    else:
        kind = column_kind(where.column, schema)
        if isinstance(where, Contains):
            _check_list(where, kind)
        elif not isinstance(where, Missing):
            _check_plain(where, kind)


def column_kind(name: str, schema: pa.Schema) -> pa.DataType:
    """The type of a column that filters may name."""
    known = [field.name for field in schema if not field.name.startswith(OWN)]
    if name not in schema.names:
        raise UsageError(f"where: no column '{name}'{suggestion(name, known)}")
    field = schema.field(name)
    if field.metadata and field.metadata.items() >= JSON_MARK.items():
        raise UsageError(f"where: column '{name}' holds documents, which cannot be compared")
    return field.type


def _check_list(where: Contains, kind: pa.DataType) -> None:
    inner = entries(kind)
    _check_value(where.column, where.value, kind if inner is None else inner)
    if inner is None:
        whole = "; words in it are found by searching for them" if textual(kind) else ""
        raise UsageError(
            f"where: column '{where.column}' holds {described(kind)}, no lists; "
            f"write {_quoted(where.column)} = {_literal(where.value)}{whole}"
        )


def _quoted(column: str) -> str:
    """The name of a column as a filter says it."""
    return column if PLAIN.fullmatch(column) else '"' + column.replace('"', '""') + '"'


def _literal(value: Value) -> str:
    """A value as a filter says it."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value).lower()


def _check_plain(where: Compare | In, kind: pa.DataType) -> None:
    if entries(kind) is not None:
        raise UsageError(
            f"where: column '{where.column}' holds lists; write {where.column} contains 'value'"
        )
    ordered = isinstance(where, Compare) and where.operator not in ("=", "!=")
    if ordered and pa.types.is_boolean(kind):
        raise UsageError(f"where: column '{where.column}' is true or false; compare it by =")
    for value in where.values if isinstance(where, In) else (where.value,):
        _check_value(where.column, value, kind)


def _check_value(column: str, value: Value, given: pa.DataType) -> None:
    """A value must be of the column's kind: nothing is guessed."""
    kind = plain(given)
    if pa.types.is_null(kind):  # no row has a value, so that nothing is wrong with any
        return
    if not comparable(kind):
        raise UsageError(
            f"where: column '{column}' holds {described(kind)}, which cannot be compared; "
            f"write {_quoted(column)} is not null"
        )
    if temporal(kind) and isinstance(value, str):
        _check_moment(column, value, kind)
    elif not _fits(value, kind):
        said = repr(value) if isinstance(value, str) else str(value).lower()
        hint = f"; write '{said}'" if textual(kind) else ""
        raise UsageError(f"where: column '{column}' holds {described(kind)}, not {said}{hint}")


def _fits(value: Value, kind: pa.DataType) -> bool:
    if isinstance(value, bool) or pa.types.is_boolean(kind):
        return isinstance(value, bool) and bool(pa.types.is_boolean(kind))
    if isinstance(value, str):
        return textual(kind)
    return numeric(kind) and (isinstance(value, int) or isfinite(value))


def _check_moment(column: str, value: str, kind: pa.DataType) -> None:
    try:
        moment(value, kind)
    except (ValueError, pa.ArrowException):
        said = described(kind)
        raise UsageError(
            f"where: column '{column}' holds {said}; {value!r} is none (write '{EXAMPLES[said]}')"
        ) from None

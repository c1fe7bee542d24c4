"""A filter in the language of Milvus, over rows that are kept as JSON in the field `row`.

Values are written as rows write them, so that they compare alike, and all as JSON, so that nothing
in them is taken for the language itself.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

import pyarrow as pa

from trope.errors import UsageError
from trope.index.filters import milvus_numbers as numbers
from trope.index.filters.kinds import described
from trope.index.filters.tree import (
    Compare,
    Contains,
    Every,
    Filter,
    In,
    Missing,
    Not,
    Some,
    Value,
)
from trope.index.remote_kinds import DIGITS, form
from trope.index.remote_values import written

OPERATORS = {"=": "=="}
TEXTS = ("text", "flag", "moment", "day")  # what JSON texts, true and false stand for


def expression(where: Filter, schema: pa.Schema) -> str:
    """The same filter, checked before, to be evaluated by the server."""
    if isinstance(where, Not):
        return f"(not {expression(where.part, schema)})"
    if isinstance(where, (Every, Some)):
        word = " and " if isinstance(where, Every) else " or "
        return f"({word.join(expression(part, schema) for part in where.parts)})"
    column = f"row[{_json(where.column)}]"
    if isinstance(where, Missing):
        return f"(not (exists {column}))"
    tests = _tests(where, column, schema.field(where.column).type)
    passing = " or ".join(tests) or f"not (exists {column})"  # so that nothing does
    return f"((exists {column}) and ({passing}))"


def _tests(where: Compare | In | Contains, column: str, kind: pa.DataType) -> list[str]:
    """What the server shall compare; one of these must hold."""
    inner = kind.value_type if isinstance(where, Contains) else kind
    if pa.types.is_null(inner):
        return []
    if form(inner) == "number":
        return _of_numbers(where, column, inner)
    _refuse_unequal(where.column, inner)
    if isinstance(where, Contains):
        return [f"json_contains({column}, {_written([where.value], inner)})"]
    if isinstance(where, In):
        return [f"{column} in [{_written(where.values, inner)}]"]
    sign = OPERATORS.get(where.operator, where.operator)
    return [f"{column} {sign} {_written([where.value], inner)}"]


def _of_numbers(where: Compare | In | Contains, column: str, kind: pa.DataType) -> list[str]:
    if isinstance(where, In):
        return numbers.among(column, cast("tuple[numbers.Number, ...]", where.values))
    value = cast("numbers.Number", where.value)
    if isinstance(where, Contains):
        return numbers.containing(column, value, kind)
    return numbers.compared(column, where.operator, value, kind)


def _refuse_unequal(column: str, kind: pa.DataType) -> None:
    """Better no answer than another one than that of every other engine."""
    if form(kind) == "digits":
        raise UsageError(
            f"where: column '{column}' holds {kind}; Milvus compares decimals of up to "
            f"{DIGITS} digits, use another engine"
        )
    if form(kind) not in TEXTS:
        raise UsageError(f"where: column '{column}' holds {described(kind)}, not to be compared")


def _written(values: Sequence[Value], kind: pa.DataType) -> str:
    """As the rows of a column have them."""
    return ", ".join(map(_json, written(pa.array(values).cast(kind))))


def _json(value: Value) -> str:
    return json.dumps(value, ensure_ascii=False)

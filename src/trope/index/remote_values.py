"""How a value stands in a JSON document on a server: the same in rows and in filters on them.

JSON has no dates, no decimals and nothing that is not finite. Each becomes a text or a number that
compares as the value does, whatever unit its column has or gets later: moments are texts of one
width in UTC, decimals of up to 15 digits numbers, of more texts, which keep every digit.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import pyarrow as pa

from trope.index.remote_kinds import as_is, bare, form, plain

MARKS = {"Infinity": math.inf, "-Infinity": -math.inf, "NaN": math.nan}
NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
SECONDS = "2020-12-31 23:59:59"
DIGITS = {"s": 0, "ms": 4, "us": 7, "ns": 10}  # characters that Arrow writes after the seconds
YEAR = re.compile(r"\d{4}-")


def written(column: pa.Array | pa.ChunkedArray) -> list[Any]:
    """What stands in documents; `ValueError` for a date that texts cannot put in order."""
    kind = bare(column.type)
    values: list[Any] = column.cast(kind).cast(plain(kind)).to_pylist()
    return values if as_is(kind) else [_mapped(value, kind, _out) for value in values]


def read(values: list[Any], kind: pa.DataType) -> pa.Array:
    """The column that was written; its unit may have become finer since."""
    if form(kind) == "struct":
        return _structs(values, kind)
    less = bare(kind)
    held = values if as_is(less) else [_mapped(value, less, _back) for value in values]
    return pa.array(held, plain(less)).cast(less).cast(kind)


def _structs(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Field by field: in place of a missing struct, Arrow would read an empty text as a date."""
    parts = [read([(value or {}).get(f.name) for value in values], f.type) for f in kind]
    gaps = pa.array([value is None for value in values], pa.bool_())
    return pa.StructArray.from_arrays(parts, fields=list(kind), mask=gaps)


def _mapped(value: Any, kind: pa.DataType, change: Callable[[Any, pa.DataType], Any]) -> Any:
    """A value with all within it changed."""
    if value is None:
        return None
    if form(kind) == "list":
        return [_mapped(one, kind.value_type, change) for one in value]
    if form(kind) == "struct":
        return {f.name: _mapped(value.get(f.name), f.type, change) for f in kind}
    return change(value, kind)


def _out(value: Any, kind: pa.DataType) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return str(value).replace("inf", "Infinity").replace("nan", "NaN")
    if isinstance(value, Decimal):
        return float(value) if form(kind) == "number" else str(value)
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if form(kind) == "span":
        return str(value * NANOSECONDS[kind.unit])
    return _moment(value) if form(kind) in ("moment", "day") else value


def _moment(text: str) -> str:
    """Texts of one width are in the order of time."""
    if not YEAR.match(text):
        raise ValueError(f"{text} is no date of the years 0 to 9999")
    rest = ".000000000"[len(text) - len(SECONDS) :]
    return text if len(text) < len(SECONDS) else text + rest


def _back(value: Any, kind: pa.DataType) -> Any:
    what = form(kind)
    if pa.types.is_floating(kind):
        return MARKS[value] if value in MARKS else float(value)
    if pa.types.is_decimal(kind):
        return Decimal(str(value))
    if what == "bytes":
        return base64.b64decode(value)
    if what == "span":
        return int(value) // NANOSECONDS[kind.unit]
    return value[: len(SECONDS) + DIGITS[kind.unit]] if what == "moment" else value

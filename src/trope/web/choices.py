"""Values chosen in the columns of an index, as a filter."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping

import pyarrow as pa

from trope.errors import UsageError
from trope.index.filters import Filter, parse
from trope.index.filters.kinds import entries, numeric
from trope.index.filters.tree import (
    Compare,
    Contains,
    Every,
    In,
    Operator,
    Some,
    Value,
    column_kind,
)

RANGE = ".."
WHOLE = re.compile(r"-?[0-9]{1,18}")


def chosen(
    facets: Mapping[str, tuple[str, ...]], where: str | None, schema: pa.Schema
) -> Filter | None:
    """What a row must pass: the filter as it is written, and one value of each column."""
    parts = [parse(where)] if where and where.strip() else []
    parts += [_some(name, values, schema) for name, values in facets.items() if values]
    return _all(parts) if parts else None


def _some(name: str, values: tuple[str, ...], schema: pa.Schema) -> Filter:
    kind = column_kind(name, schema)
    inner = entries(kind)
    if inner is not None:
        return _any([Contains(name, _value(name, text, inner)) for text in values])
    if numeric(kind) or pa.types.is_temporal(kind):
        return _any([_within(name, text, kind) for text in values])
    return In(name, tuple(_value(name, text, kind) for text in values))


def _within(name: str, text: str, kind: pa.DataType) -> Filter:
    """A number or date, or a range of them that may be open at either end."""
    if RANGE not in text:
        return Compare(name, "=", _value(name, text, kind))
    low, _, high = text.partition(RANGE)
    ends: list[tuple[Operator, str]] = [(">=", low), ("<=", high)]
    parts: list[Filter] = [
        Compare(name, sign, _value(name, end, kind)) for sign, end in ends if end.strip()
    ]
    if not parts:
        raise UsageError(f"filters: '{name}' has a range without ends")
    return _all(parts)


def _value(name: str, text: str, kind: pa.DataType) -> Value:
    """A value as its column has it."""
    if pa.types.is_boolean(kind):
        if text not in ("true", "false"):
            raise UsageError(f"filters: '{name}' is true or false, not '{text[:80]}'")
        return text == "true"
    if not numeric(kind):
        return text
    return _number(name, text)


def _decimal(text: str) -> float:
    """A decimal as people write it; Python also reads `1_0` and the digits of other scripts."""
    if "_" in text or not text.isascii():
        raise ValueError(text)
    return float(text)


def _number(name: str, text: str) -> int | float:
    """A number that rows can stand beside: no `nan`, and no `inf`, which an open end says."""
    try:
        found = int(text) if WHOLE.fullmatch(text.strip()) else _decimal(text)
    except ValueError:
        found = math.nan
    if math.isfinite(found):
        return found
    hint = "; leave out an end that is open, as in 10.." if math.isinf(found) else ""
    raise UsageError(f"filters: '{name}' holds numbers, not '{text[:80]}'{hint}")


def _all(parts: list[Filter]) -> Filter:
    return parts[0] if len(parts) == 1 else Every(tuple(parts))


def _any(parts: list[Filter]) -> Filter:
    return parts[0] if len(parts) == 1 else Some(tuple(parts))

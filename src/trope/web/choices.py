"""Values chosen in the columns of an index, as a filter."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping

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
from trope.web.dates import between

RANGE = ".."
WHOLE = re.compile(r"-?[0-9]{1,18}")


def chosen(
    facets: Mapping[str, tuple[str, ...]],
    where: str | None,
    schema: pa.Schema,
    dates: Collection[str] = (),
) -> Filter | None:
    """What a row must pass: the filter as it is written, and one value of each column.

    `dates` are columns of text that are all dates.
    """
    parts = [parse(where)] if where and where.strip() else []
    for name, values in facets.items():
        if values:
            parts.append(_some(name, values, column_kind(name, schema), name in dates))
    return _all(parts) if parts else None


def _some(name: str, values: tuple[str, ...], kind: pa.DataType, dates: bool) -> Filter:
    inner = entries(kind)
    if inner is not None:
        return _any([Contains(name, _value(name, text, inner)) for text in values])
    if numeric(kind) or pa.types.is_temporal(kind):
        return _any([_within(name, text, kind) for text in values])
    if dates and any(RANGE in text for text in values):
        return _any([_dated(name, text) for text in values])
    return In(name, tuple(_value(name, text, kind) for text in values))


def _within(name: str, text: str, kind: pa.DataType) -> Filter:
    """A number or date, or a range of them that may be open at either end."""
    if RANGE not in text:
        return Compare(name, "=", _value(name, text, kind))
    low, high = _ends(name, text)
    ends: list[tuple[Operator, str]] = [(">=", low), ("<=", high)]
    return _all([Compare(name, sign, _value(name, end, kind)) for sign, end in ends if end])


def _dated(name: str, text: str) -> Filter:
    """A date that is kept as text, or a range of them."""
    return between(name, *_ends(name, text)) if RANGE in text else Compare(name, "=", text)


def _ends(name: str, text: str) -> tuple[str, str]:
    low, _, high = text.partition(RANGE)
    if not (low.strip() or high.strip()):
        raise UsageError(f"filters: '{name}' has a range without ends")
    return low.strip(), high.strip()


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

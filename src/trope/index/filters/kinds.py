"""What columns can hold, as far as filters are concerned, and text that says a date or a time."""

from __future__ import annotations

from datetime import time

import pyarrow as pa

EXAMPLES = {
    "dates": "2020-12-31",
    "dates and times": "2020-12-31 18:30:00",
    "dates and times with a zone": "2020-12-31 18:30:00+02:00",
    "times of day": "18:30:00",
}


def described(kind: pa.DataType) -> str:
    """A type in words."""
    if pa.types.is_boolean(kind):
        return "true or false"
    if numeric(kind):
        return "numbers"
    if textual(kind):
        return "text"
    return _described_time(kind) or str(kind)


def _described_time(kind: pa.DataType) -> str:
    if pa.types.is_timestamp(kind):
        return "dates and times with a zone" if kind.tz else "dates and times"
    if pa.types.is_time(kind):
        return "times of day"
    return "dates" if pa.types.is_date(kind) else ""


def numeric(kind: pa.DataType) -> bool:
    """Whether a column holds numbers."""
    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind)
    )


def textual(kind: pa.DataType) -> bool:
    """Whether a column holds text."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def temporal(kind: pa.DataType) -> bool:
    """Whether a column holds dates or times that text can say."""
    return bool(_described_time(kind))


def comparable(kind: pa.DataType) -> bool:
    """Whether values of a column can stand in a filter."""
    return pa.types.is_boolean(kind) or numeric(kind) or textual(kind) or temporal(kind)


def entries(kind: pa.DataType) -> pa.DataType | None:
    """The type of a list's entries; None of what is no list."""
    types = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return kind.value_type if any(listed(kind) for listed in types) else None


def plain(kind: pa.DataType) -> pa.DataType:
    """A type that Arrow compares, with the same values."""
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_string_view(kind):
        return pa.string()
    inner = entries(kind)
    if inner is None or (plain(inner) == inner and not pa.types.is_fixed_size_list(kind)):
        return kind
    return pa.list_(plain(inner))


def moment(value: str, kind: pa.DataType) -> pa.Scalar:
    """A date or time from its text; where a zone is wanted and not said, it is UTC."""
    if pa.types.is_time(kind):
        return pa.scalar(time.fromisoformat(value), kind)
    if pa.types.is_timestamp(kind) and kind.tz:
        try:
            return pa.scalar(value).cast(kind)
        except pa.ArrowInvalid:
            return pa.scalar(value).cast(pa.timestamp(kind.unit)).cast(kind)
    return pa.scalar(value).cast(kind)

"""Types of columns as a server sees them: what becomes a number in JSON, what a text."""

from __future__ import annotations

from collections.abc import Callable

import pyarrow as pa
from pyarrow import types

DIGITS = 15  # of a decimal that a double tells from all others

FORMS: dict[str, tuple[Callable[[pa.DataType], bool], ...]] = {
    "flag": (types.is_boolean,),
    "number": (types.is_integer, types.is_floating),
    "text": (types.is_string, types.is_large_string),
    "bytes": (types.is_binary, types.is_large_binary, types.is_fixed_size_binary),
    "moment": (types.is_timestamp,),
    "day": (types.is_date,),
    "span": (types.is_time, types.is_duration),
    "list": (types.is_list, types.is_large_list, types.is_fixed_size_list),
    "struct": (types.is_struct,),
    "nothing": (types.is_null,),
}


def form(kind: pa.DataType) -> str:
    """What values of a type are in a document; decimals of many digits are `digits`."""
    if types.is_decimal(kind):
        return "number" if kind.precision <= DIGITS and kind.scale >= 0 else "digits"
    found = (name for name, tests in FORMS.items() if any(test(kind) for test in tests))
    return next(found, str(kind))


def as_is(kind: pa.DataType) -> bool:
    """Whether JSON has such values itself."""
    if form(kind) == "list":
        return as_is(kind.value_type)
    return types.is_integer(kind) or form(kind) in ("flag", "text", "nothing")


def keeps(old: pa.DataType, new: pa.DataType) -> bool:
    """Whether values that were written as one type can be read and compared as another."""
    if types.is_null(old) or (form(old), form(new)) == ("number", "digits"):
        return True
    if form(old) != form(new):
        return False
    if form(old) == "list":
        return keeps(old.value_type, new.value_type)
    if form(old) == "struct":
        both = {field.name for field in old} & {field.name for field in new}
        return all(keeps(old.field(name).type, new.field(name).type) for name in both)
    return True


def bare(kind: pa.DataType) -> pa.DataType:
    """Without a zone, so that moments are in UTC; times of a day as Arrow can count them."""
    if types.is_timestamp(kind):
        return pa.timestamp(kind.unit)
    return pa.time64("us") if types.is_time32(kind) else _within(kind, bare)


def plain(kind: pa.DataType) -> pa.DataType:
    """What Arrow writes a bare type as."""
    if form(kind) in ("moment", "day"):
        return pa.string()
    return pa.int64() if form(kind) == "span" else _within(kind, plain)


def _within(kind: pa.DataType, change: Callable[[pa.DataType], pa.DataType]) -> pa.DataType:
    """The same type around changed ones."""
    if types.is_fixed_size_list(kind):
        return pa.list_(change(kind.value_type), kind.list_size)
    if form(kind) == "list":
        return (pa.list_ if types.is_list(kind) else pa.large_list)(change(kind.value_type))
    if form(kind) == "struct":
        return pa.struct([field.with_type(change(field.type)) for field in kind])
    return kind

"""Comparisons with numbers that a column cannot have, as ones that it can."""

from __future__ import annotations

from math import ceil, copysign, floor, inf
from typing import TypeAlias

import pyarrow as pa

Number: TypeAlias = int | float
FROM_BELOW, FROM_ABOVE = ("<", "<=", "!="), (">", ">=", "!=")


def in_whole(operator: str, value: Number, kind: pa.DataType) -> tuple[str, int] | bool:
    """The same comparison with a whole number of the column's type, or its one answer for all."""
    low, high = limits(kind)
    if value > high:
        return operator in FROM_BELOW
    if value < low:
        return operator in FROM_ABOVE
    if value == floor(value):
        return operator, int(value)
    if operator in ("=", "!="):
        return operator == "!="
    return ("<=", floor(value)) if operator in FROM_BELOW else (">=", ceil(value))


def limits(kind: pa.DataType) -> tuple[int, int]:
    """The least and the largest number of a type of whole ones."""
    bits = int(kind.bit_width)
    if pa.types.is_unsigned_integer(kind):
        return 0, 2**bits - 1
    return -(2 ** (bits - 1)), 2 ** (bits - 1) - 1


def real(value: Number) -> float:
    """A number in floating point; one beyond all of these is infinite."""
    try:
        return float(value)
    except OverflowError:
        return copysign(inf, value)

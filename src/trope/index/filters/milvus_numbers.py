"""Comparisons with numbers in the language of Milvus, as Arrow makes them.

What is not finite is a text in a row: a comparison with a number, which is finite, passes it over,
and infinities that lie on the right side of it are asked for by name. NaN passes none.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from trope.index.filters.numbers import Number

__all__ = ["Number", "among", "compared", "containing"]

COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
FAR = {"Infinity": math.inf, "-Infinity": -math.inf}
WHOLE = 2**53  # up to which doubles have every whole number
LONGEST = 2**63  # from which on the server reads no whole number


def compared(column: str, sign: str, value: Number, kind: pa.DataType) -> list[str]:
    """Tests of which one must hold; `!=` would let texts pass, so it is said in two."""
    passing = (name for name, far in FAR.items() if COMPARED[sign](far, value))
    marks = [f'{column} == "{name}"' for name in passing if pa.types.is_floating(kind)]
    signs = ("<", ">") if sign == "!=" else ("==" if sign == "=" else sign,)
    return [*marks, *(f"{column} {one} {_json(value)}" for one in signs)]


def among(column: str, values: Sequence[Number]) -> list[str]:
    """The same for several; a list may not have whole numbers and others."""
    tests, short = [], [_short(value) for value in values]
    for one in (int, float):
        if some := [_json(value) for value in short if isinstance(value, one)]:
            tests.append(f"{column} in [{', '.join(some)}]")
    return tests


def containing(column: str, value: Number, kind: pa.DataType) -> list[str]:
    """Lists with an entry; one written as a float finds whole numbers too, not the reverse."""
    exact = pa.types.is_integer(kind) and abs(value) > WHOLE
    return [f"json_contains({column}, {_json(value if exact else float(value))})"]


def _short(value: Number) -> Number:
    """A whole number as one, where the server reads it as such."""
    if isinstance(value, int):
        return value if abs(value) < LONGEST else float(value)
    return int(value) if value == int(value) and abs(value) <= WHOLE else value


def _json(value: Number) -> str:
    """Whole numbers of more than 64 bits as others, which lie on the same side of all it has."""
    whole = isinstance(value, int) and abs(value) < LONGEST
    return json.dumps(value if whole else float(value))

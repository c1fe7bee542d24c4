"""Dates that are kept as text, as JSON and CSV have them: `2007-03-12`, also with a time.

Written so, they are in the order of their text; of those with zones it is the order of the clocks.
"""

from __future__ import annotations

import re

import pyarrow as pa
import pyarrow.compute as pc

from trope.errors import UsageError
from trope.index.filters.tree import Compare, Every, Filter

DAY = r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"
TIME = r"([T ][0-2][0-9]:[0-5][0-9](:[0-6][0-9]([.,][0-9]+)?)?(Z|[+-][0-9]{2}:?[0-9]{2})?)?"
ISO = f"^{DAY}{TIME}$"
END = re.compile(rf"[0-9]{{4}}(-[0-9]{{2}})?|{DAY}{TIME}")  # a year or a month will do
LAST = "~"  # after all that can follow the beginning of a date


def dated(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """The dates of a column of text; None where a text is something else, or there are none."""
    said = column.drop_null()
    said = said.filter(pc.not_equal(said, ""))  # as CSV says that there is none
    if not len(said) or not pc.all(pc.match_substring_regex(said, ISO)).as_py():
        return None
    return said


def between(name: str, low: str, high: str) -> Filter:
    """Those from one date to another, with all of the day, month or year that is named last."""
    for end in (low, high):
        if end and not END.fullmatch(end):
            raise UsageError(f"filters: '{name}' holds dates, such as 2020-12-31, not '{end[:80]}'")
    first = Compare(name, ">=", low) if low else Compare(name, ">", "")
    return Every((first, Compare(name, "<=", high + LAST))) if high else first

"""Filters on columns of every kind that Arrow has: compared as Python does, or refused."""

from __future__ import annotations

import datetime
import operator
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trope.errors import UsageError
from trope.index.filters import check, mask, parse
from trope.index.filters.tree import Compare

PLAIN = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
LIMITS = {"int8": 7, "int64": 63, "uint8": 8, "uint64": 64}
UTC, EAST = datetime.UTC, datetime.timezone(datetime.timedelta(hours=2))
HALF = pa.array(np.array([1.5, 2.5, 4.0], np.float16))

TABLE = pa.table(
    {
        "half": HALF,
        "halves": pa.array([[1.5], [2.5, 4.0], None], pa.list_(pa.float16())),
        "pair": pa.array([[1, 2], [3, 4], None], pa.list_(pa.int64(), 2)),
        "short": pa.array([[1.5], [2.5], None], pa.list_(pa.float16(), 1)),
        "price": pa.array([Decimal("1.10"), Decimal("2.00"), None], pa.decimal128(38, 2)),
        "fine": pa.array([Decimal("1.10"), Decimal("2.00"), None], pa.decimal128(38, 36)),
        "seen": pa.array(["a", "b", None], pa.string_view()),
        "at": pa.array(
            [datetime.datetime(2020, 12, day, 23, tzinfo=UTC) for day in (30, 31)] + [None],
            pa.timestamp("us", "Europe/Berlin"),
        ),
        "naive": pa.array([datetime.datetime(2020, 12, day, 23) for day in (30, 31)] + [None]),
        "when": pa.array([datetime.date(2020, 12, day) for day in (30, 31)] + [None]),
        "clock": pa.array([datetime.time(8), datetime.time(18, 30), None]),
        "took": pa.array([datetime.timedelta(hours=hour) for hour in (1, 2)] + [None]),
        "blob": pa.array([b"a", b"b", None]),
        "deep": pa.array([[[1]], [[2]], None]),
        "both": pa.array([{"a": 1}, {"a": 2}, None]),
        "map": pa.array([[("a", 1)], [], None], pa.map_(pa.string(), pa.int64())),
        "tweet": pa.array([1234567890123456789, 2**53 + 1, None], pa.int64()),
        "large": pa.array([2**63, 2**64 - 1, None], pa.uint64()),
    }
)


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("tweet = 1234567890123456789", [0]),
        ("tweet = 1234567890123456788", []),
        ("tweet > 1.5", [0, 1]),
        ("tweet = 9007199254740992.0", []),
        ("tweet < 1e300", [0, 1]),
        ("tweet in (9007199254740993, 1.5)", [1]),
        ("large = 9223372036854775808", [0]),
        ("large > 9223372036854775808", [1]),
        ("large >= -1", [0, 1]),
        ("large != 99999999999999999999999", [0, 1]),
        ("half > 2", [1, 2]),
        ("halves contains 2.5", [1]),
        ("pair contains 3", [1]),
        ("short contains 1.5", [0]),
        ("price = 1.1", [0]),
        ("price < 99999999999999999999999", [0, 1]),
        ("fine < 2", [0]),
        ("seen = 'b'", [1]),
        ("seen in ('a', 'b')", [0, 1]),
        ("at >= '2020-12-31'", [1]),
        ("at = '2020-12-31 23:00'", [1]),
        ("at = '2021-01-01T00:00:00+01:00'", [1]),
        ("naive >= '2020-12-31 23:00:00'", [1]),
        ("clock > '08:00'", [1]),
        ("blob is not null", [0, 1]),
        ("both is null", [2]),
    ],
)
def test_what_can_be_compared_is(where: str, wanted: list[int]) -> None:
    found = parse(where)
    check(found, TABLE.schema)
    assert np.flatnonzero(mask(found, TABLE)).tolist() == wanted


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("blob = 5", "holds binary, which cannot be compared"),
        ("blob = 'a'", "holds binary, which cannot be compared"),
        ("pair = 5", "holds lists; write pair contains"),
        ("both = 5", "which cannot be compared"),
        ("map = 5", "which cannot be compared"),
        ("deep contains 1", "which cannot be compared"),
        ("took > 5", "which cannot be compared"),
        ("took > '01:00:00'", "which cannot be compared"),
        ("at > 'soon'", r"zone; 'soon' is none \(write '2020-12-31 18:30:00\+02:00'\)"),
        ("naive > 'soon'", r"\(write '2020-12-31 18:30:00'\)"),
        ("clock > 'noon'", r"holds times of day; 'noon' is none \(write '18:30:00'\)"),
        ("when > 2020", "holds dates, not 2020"),
        ("half = 1e999", "expected a number below 1e308, found '1e999' at character 8"),
        ("tweet = " + "9" * 5_000, "expected a number below 1e308"),
        ("half = nan", "expected a value"),
    ],
)
def test_what_cannot_be_compared_is_told(where: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        check(parse(where), TABLE.schema)


def test_numbers_that_are_none_are_refused_from_python_too() -> None:
    for value in (float("nan"), float("inf")):
        with pytest.raises(UsageError, match="holds numbers, not"):
            check(Compare("half", "<", value), TABLE.schema)


def test_days_are_compared_with_times_where_others_have_times() -> None:
    """A column may hold dates of pictures, and times of texts."""
    assert mask(Compare("when", ">", "2020-12-30 10:00"), TABLE).tolist() == [False, True, False]


numbers = st.integers(-(2**65), 2**65) | st.integers(-300, 300) | st.floats(-(2.0**65), 2.0**65)


@given(st.sampled_from(sorted(LIMITS)), st.data(), st.sampled_from(sorted(PLAIN)), numbers)
def test_whole_numbers_are_compared_exactly(
    kind: str, data: st.DataObject, sign: str, value: int | float
) -> None:
    bits = LIMITS[kind]
    least = 0 if kind.startswith("u") else -(2**bits)
    values = [*data.draw(st.lists(st.integers(least, 2**bits - 1), max_size=3)), 2**bits - 1]
    values += [int(value)] if least <= value <= values[-1] and int(value) <= values[-1] else []
    table = pa.table({"n": pa.array([*values, None], getattr(pa, kind)())})
    where = Compare("n", sign, value)  # type: ignore[arg-type]
    check(where, table.schema)
    assert mask(where, table).tolist() == [PLAIN[sign](n, value) for n in values] + [False]

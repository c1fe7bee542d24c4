"""Columns of every kind: filters on them mean the same in every engine, and they come back."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from math import inf, nan

import pyarrow as pa
import pytest
from index_samples import items

from trope.errors import UsageError
from trope.index import Engine
from trope.index.filters import Filter, parse
from trope.index.filters.tree import Compare, Contains, In

Make = Callable[..., Engine]

MOMENTS = [
    datetime(2020, 12, 31),
    datetime(2020, 12, 31, 22, 59, 59, 999_999),
    datetime(2021, 1, 1),
    datetime(1066, 10, 14, 9),
    datetime(9999, 12, 31, 23, 59, 59),
    None,
]
ZONED = [None if moment is None else moment.replace(tzinfo=UTC) for moment in MOMENTS]
DAYS = [None if moment is None else moment.date() for moment in MOMENTS]
DECIMALS = [Decimal(text) for text in ("22", "2.5", "3.49", "-1", "2")]
COLUMNS = {
    "ts": pa.array(MOMENTS, pa.timestamp("us")),
    "coarse": pa.array(
        [None if m is None else m.replace(microsecond=0) for m in MOMENTS], pa.timestamp("s")
    ),
    "fine": pa.array([1, 2, 1_600_000_000_123_456_789, -1, 10**18, None], pa.timestamp("ns")),
    "tz": pa.array(ZONED, pa.timestamp("us", "UTC")),
    "berlin": pa.array(ZONED, pa.timestamp("ms", "Europe/Berlin"), safe=False),
    "day": pa.array(DAYS, pa.date32()),
    "day64": pa.array(DAYS, pa.date64()),
    "hour": pa.array([time(1), time(23, 59, 59), None, time(0), time(12), time(1)], pa.time32("s")),
    "took": pa.array(
        [timedelta(1), timedelta(-3), None, timedelta(0), None, None], pa.duration("ms")
    ),
    "dec": pa.array([*DECIMALS, None], pa.decimal128(5, 2)),
    "long": pa.array([Decimal("0.1234567890123456789"), *[None] * 5], pa.decimal128(30, 19)),
    "x": pa.array([nan, inf, -inf, 0.5, -2.0, None], from_pandas=False),
    "half": pa.array([0.1, 2.0, nan, None, inf, -0.0], pa.float32(), from_pandas=False),
    "big": pa.array([2**58 + 1, 2**58, -(2**58), 0, 2, None], pa.int64()),
    "nums": pa.array([[2.0, 2.5], [nan, 3.0], [inf], [], None, [None, 2.0]]),
    "whole": pa.array([[2, 3], [2**58 + 1], [], None, [None, 2], [5]], pa.list_(pa.int64())),
    "moments": pa.array([[m] for m in MOMENTS], pa.list_(pa.timestamp("us"))),
    "prices": pa.array(
        [[Decimal("2.50")], [], None, [Decimal("3")], [], []], pa.list_(pa.decimal128(5, 2))
    ),
    "shown": pa.array([True, False, None, True, False, None]),
    "raw": pa.array([b"\x00\xff", b"", None, b"a", b"b", b"c"]),
    "nested": pa.array(
        [{"at": MOMENTS[1], "of": [nan, 1.5]}, None, {"at": None, "of": None}, None, None, None],
        pa.struct([("at", pa.timestamp("us")), ("of", pa.list_(pa.float64()))]),
    ),
}

FILTERS = {
    "ts = '2020-12-31'": [0],
    "ts != '2020-12-31'": [1, 2, 3, 4],
    "ts <= '2020-12-31 23:00'": [0, 1, 3],
    "ts < '2020-12-31T22:59:59.999999'": [0, 3],
    "ts >= '2021-01-01'": [2, 4],
    "ts in ('2020-12-31', '9999-12-31 23:59:59')": [0, 4],
    "not ts > '1066-10-14'": [5],
    "ts is null": [5],
    "coarse <= '2020-12-31 22:59:59'": [0, 1, 3],
    "fine = '2020-09-13 12:26:40.123456789'": [2],
    "fine > '1970-01-01 00:00:00.000000001'": [1, 2, 4],
    "tz >= '2021-01-01T00:00:00Z'": [2, 4],
    "tz = '2021-01-01T01:00:00+01:00'": [2],
    "berlin < '2020-12-31T01:00:00+01:00'": [3],
    "day = '2020-12-31'": [0, 1],
    "day64 > '2020-12-31'": [2, 4],
    "hour is null": [2],
    "dec > 2": [0, 1, 2],
    "dec = 22": [0],
    "dec < 3.5": [1, 2, 3, 4],
    "dec in (2, 2.5, 1000000000000)": [1, 4],
    "dec != 2.5": [0, 2, 3, 4],
    "dec is null": [5],
    "long is null": [1, 2, 3, 4, 5],
    "x is null": [5],
    "x is not null": [0, 1, 2, 3, 4],
    "x > 0": [1, 3],
    "x != 0.5": [1, 2, 4],
    "x <= -2": [2, 4],
    "not x > 0": [0, 2, 4, 5],
    "x in (0.5, -2)": [3, 4],
    "half = 0.1": [],
    "half < 0.2": [0, 5],
    "half in (2, 0)": [1, 5],
    "big = 288230376151711745": [0],
    "big > 288230376151711744": [0],
    "big in (288230376151711744, 2)": [1, 4],
    "big = 99999999999999999999999": [],
    "big < 99999999999999999999999": [0, 1, 2, 3, 4],
    "big != -99999999999999999999999": [0, 1, 2, 3, 4],
    "big in (2, 99999999999999999999999)": [4],
    "x < 99999999999999999999999": [2, 3, 4],
    "nums contains 2": [0, 5],
    "nums contains 2.5": [0],
    "nums is null": [4],
    "whole contains 2": [0, 4],
    "whole contains 288230376151711745": [1],
    "whole contains 288230376151711744": [],
    "whole contains 99999999999999999999999": [],
    "moments contains '2020-12-31'": [0],
    "prices contains 2.5": [0],
    "prices contains 3": [3],
    "shown = true": [0, 3],
    "shown != true": [1, 4],
    "shown in (false)": [1, 4],
}


def shown(column: pa.ChunkedArray) -> str:
    """All values, where NaN is NaN; Arrow's text has moments that Python cannot hold."""
    if pa.types.is_struct(column.type):  # Arrow's text also has what lies below gaps
        return repr(column.to_pylist())
    return str(column.combine_chunks().to_string())


def filled(make: Make) -> tuple[Engine, list[str], pa.Table]:
    index, (ids, vectors, rows) = make(), items(6)
    for name, column in COLUMNS.items():
        rows = rows.append_column(name, column)
    index.add(ids, vectors, rows)
    return index, ids, rows


def all_found(index: Engine, filters: Iterable[Filter]) -> list[list[str]]:
    """What passes each filter; asked together, as a server takes its time."""
    with ThreadPoolExecutor(8) as pool:
        return [sorted(found) for found in pool.map(index.find, filters)]


def test_filters_on_columns_of_every_kind_let_the_same_items_pass(make: Make) -> None:
    index, ids, _ = filled(make)
    found = dict(zip(FILTERS, all_found(index, map(parse, FILTERS)), strict=True))
    assert found == {where: [ids[n] for n in some] for where, some in FILTERS.items()}


@pytest.mark.parametrize(
    "where", [Compare("x", "<", inf), In("x", (0.5, -inf)), Contains("nums", inf)]
)
def test_what_is_not_finite_is_refused(make: Make, where: Filter) -> None:
    with pytest.raises(UsageError, match=r"holds numbers, not -?inf"):
        filled(make)[0].find(where)


def test_columns_of_every_kind_come_back_as_they_were(make: Make) -> None:
    index, ids, rows = filled(make)
    found = index.get(ids[::-1]).rows.select(rows.column_names)
    assert found.schema.types == rows.schema.types
    for name in rows.column_names:
        wanted = rows.column(name).take(list(range(5, -1, -1)))
        assert shown(found.column(name)) == shown(wanted), name


def test_units_may_become_finer_and_numbers_wider(make: Make) -> None:
    """What is there was written in the old type."""
    index, first, more = make(), items(2), items(2, seed=1, start=2)
    old = {"at": pa.array([0, 5], pa.timestamp("s")), "n": pa.array([1, 2]), "l": [[1], [2]]}
    new = {"at": pa.array([5 * 10**6, 5 * 10**6 + 1], pa.timestamp("us")), "n": [2.0, 2.5]}
    for (ids, vectors, rows), columns in ((first, old), (more, new | {"l": [[2.0], [2.5]]})):
        for name, column in columns.items():
            rows = rows.append_column(name, pa.array(column))
        index.add(ids, vectors, rows)
    for where in ("at = '1970-01-01 00:00:05'", "n = 2", "l contains 2"):
        assert sorted(index.find(parse(where))) == [first[0][1], more[0][0]], where
    moments = index.get([*first[0], *more[0]]).rows.column("at").cast(pa.int64()).to_pylist()
    assert moments == [0, 5_000_000, 5_000_000, 5_000_001]

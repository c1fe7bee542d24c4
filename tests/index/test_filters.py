"""Filters: every expression against plain Python, and what is refused."""

from __future__ import annotations

import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trope.errors import UsageError
from trope.index.filters import check, mask, parse
from trope.index.filters.milvus import expression
from trope.index.filters.tree import Compare, Contains, Every, Filter, In, Missing, Not, Some

TABLE = pa.table(
    {
        "year": pa.array([2019, 2020, None, 2022], pa.int64()),
        "share": [0.5, float("nan"), None, 2.0],
        "section": ["politics", "art", None, "it's"],
        "labels": [["a", "b"], [], None, ["b"]],
        "when": pa.array([datetime.date(2020, 1, i) if i != 3 else None for i in (1, 2, 3, 4)]),
        "shown": [True, False, None, True],
        "odd name": [1, 2, 3, 4],
        "nothing": pa.nulls(4),
    }
)
ROWS = TABLE.to_pylist()

values = {
    "year": st.integers(2018, 2023) | st.floats(2018, 2023),
    "share": st.sampled_from([0.5, 1, 2.0, -1]),
    "section": st.sampled_from(["politics", "art", "it's", ""]),
    "shown": st.booleans(),
}


Plan = tuple[Any, ...]  # a tree as plain tuples: what is built may check itself at random


def compared(column: str) -> st.SearchStrategy[Plan]:
    operators = ["=", "!="] if column == "shown" else ["=", "!=", "<", "<=", ">", ">="]
    name = st.just(column)
    one = st.tuples(st.just(Compare), name, st.sampled_from(operators), values[column])
    several = st.lists(values[column], min_size=1, max_size=3).map(tuple)
    return one | st.tuples(st.just(In), name, several) | st.tuples(st.just(Missing), name)


leaves = st.one_of(
    *(compared(column) for column in values),
    st.tuples(st.just(Contains), st.just("labels"), st.sampled_from(["a", "b", "c"])),
)
plans = st.recursive(
    leaves,
    lambda inner: (
        st.tuples(st.just(Not), inner)
        | st.tuples(st.sampled_from([Every, Some]), st.lists(inner, min_size=2, max_size=3))
    ),
    max_leaves=6,
)


def built(plan: Plan) -> Filter:
    kind, *given = plan
    if kind is Not:
        return Not(built(given[0]))
    if kind in (Every, Some):
        return kind(tuple(built(part) for part in given[0]))
    return kind(*given)


def passes(where: Filter, row: dict[str, Any]) -> bool:
    """The meaning of a filter, row by row; a gap and what is no number pass nothing."""
    if isinstance(where, Not):
        return not passes(where.part, row)
    if isinstance(where, Every):
        return all(passes(part, row) for part in where.parts)
    if isinstance(where, Some):
        return any(passes(part, row) for part in where.parts)
    value = row[where.column]
    if isinstance(where, Missing):
        return value is None
    if value is None or value != value:
        return False
    if isinstance(where, Contains):
        return where.value in value
    if isinstance(where, In):
        return value in where.values
    return bool(
        {
            "=": lambda a, b: a == b,
            "!=": lambda a, b: a != b,
            "<": lambda a, b: a < b,
            "<=": lambda a, b: a <= b,
            ">": lambda a, b: a > b,
            ">=": lambda a, b: a >= b,
        }[where.operator](value, where.value)
    )


def written(where: Filter) -> str:
    """A filter as a user writes it."""
    if isinstance(where, Not):
        return f"not ({written(where.part)})"
    if isinstance(where, (Every, Some)):
        word = " and " if isinstance(where, Every) else " or "
        return word.join(f"({written(part)})" for part in where.parts)
    if isinstance(where, Missing):
        return f"{where.column} IS NULL"
    if isinstance(where, Contains):
        return f"{where.column} contains {said(where.value)}"
    if isinstance(where, In):
        return f"{where.column} in ({', '.join(map(said, where.values))})"
    return f'"{where.column}" {where.operator} {said(where.value)}'


def said(value: object) -> str:
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return str(value).lower() if isinstance(value, bool) else repr(value)


@given(plans)
def test_a_filter_means_the_same_written_parsed_and_by_hand(plan: Plan) -> None:
    where = built(plan)
    again = parse(written(where))
    check(again, TABLE.schema)
    wanted = [passes(where, row) for row in ROWS]
    assert mask(where, TABLE).tolist() == wanted
    assert mask(again, TABLE).tolist() == wanted
    assert expression(where, TABLE.schema) == expression(again, TABLE.schema)


@pytest.mark.parametrize(
    ("where", "wanted"),
    [
        ("when >= '2020-01-02'", [1, 3]),
        ("nothing is null", [0, 1, 2, 3]),
        ("nothing = 3", []),
        ('"odd name" > 2', [2, 3]),
        ("year=2019 or year=2020 and section='art'", [0, 1]),  # and binds closer
        ("not year = 2019 and not year = 2020", [2, 3]),
        ("year <> 2019", [1, 3]),
        ("year == 2022", [3]),
        ("year = 99999999999999999999999", []),
        ("  YEAR  ".lower() + "IN(2019 ,2022)", [0, 3]),
    ],
)
def test_what_can_be_said(where: str, wanted: list[int]) -> None:
    found = parse(where)
    check(found, TABLE.schema)
    assert np.flatnonzero(mask(found, TABLE)).tolist() == wanted


@pytest.mark.parametrize(
    ("where", "why"),
    [
        ("yeer > 3", "no column 'yeer'; did you mean 'year'"),
        ("year > '3'", "holds numbers, not '3'"),
        ("section = politics", "texts stand in single quotes: 'politics'"),
        ("section = 3", "holds text, not 3; write '3'"),
        ("year", "expected a comparison after 'year'"),
        ("(year > 3", r"expected '\)'"),
        ("year = 3 year = 4", "expected 'and', 'or' or the end, found 'year' at character 10"),
        ("section = 'x", "a quote is not closed"),
        ("year = 3; drop table", "cannot read '; drop"),
        ("__import__('os')", "expected a comparison"),
        ("labels = 'a'", "holds lists; write labels contains"),
        ("year contains 3", "holds numbers, no lists; write year = 3$"),
        ("year contains 'x'", "holds numbers, not 'x'"),
        ("section contains 'art'", "write section = 'art'; words in it are found by searching"),
        ("year < 1e999", "expected a number below 1e308, found '1e999' at character 8"),
        ("when > 'soon'", "holds dates; 'soon' is none"),
        ("shown > true", "compare it by ="),
        ("shown = 1", "holds true or false, not 1"),
        ("year in ()", "expected a value"),
        ("", 'is empty; write a filter such as "year >= 2020", or leave it out'),
        (" \n", "is empty"),
        ("not " * 60 + "year = 1", "nested deeper than 50"),
        ("year = 1 and " * 2_000 + "year = 1", "longer than 10,000"),
        ("section = '\ud800'", "not valid text"),
    ],
)
def test_what_cannot_be_read_is_told(where: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        check(parse(where), TABLE.schema)


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("section contains 'it''s'", [3]),
        ('"odd name" contains 2', [1]),
        ("shown contains true", [0, 3]),
        ("when contains '2020-01-02'", [1]),
        ("share contains 0.5", [0]),
    ],
)
def test_what_is_advised_instead_of_contains_works(where: str, rows: list[int]) -> None:
    with pytest.raises(UsageError) as told:
        check(parse(where), TABLE.schema)
    advice = str(told.value).partition("no lists; write ")[2].partition("; words")[0]
    better = parse(advice)
    check(better, TABLE.schema)
    assert np.flatnonzero(mask(better, TABLE)).tolist() == rows


def test_nothing_gets_out_of_quotes_on_its_way_to_a_server() -> None:
    hostile = 'x" or 1 == 1 or row["a'
    made = expression(Compare(hostile, "=", hostile), pa.schema([(hostile, pa.string())]))
    assert made.count('\\"') == 6
    assert made == (
        '((exists row["x\\" or 1 == 1 or row[\\"a"]) and '
        '(row["x\\" or 1 == 1 or row[\\"a"] == "x\\" or 1 == 1 or row[\\"a"))'
    )

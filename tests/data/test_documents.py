"""JSON without loss."""

from __future__ import annotations

import datetime
import json
import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trope.data.documents import MAX_DEPTH, dumps, json_line, loads

texts = st.text(st.characters(exclude_categories=["Cs"]))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts,
    lambda inner: st.lists(inner) | st.dictionaries(texts, inner),
    max_leaves=8,
)


@given(values)
@settings(max_examples=60)
def test_round_trip(value: Any) -> None:
    line = dumps(value)
    assert b"\n" not in line
    assert loads(line.decode()) == value
    assert json.dumps(loads(line.decode())) == json.dumps(value)


@pytest.mark.parametrize("number", [2**63, 2**64, -(2**63) - 1, 10**30, -(10**19)])
def test_long_numbers(number: int) -> None:
    assert loads(dumps({"a": [number]}).decode()) == {"a": [number]}


def test_what_json_has_no_word_for() -> None:
    found = loads(dumps([math.inf, -math.inf, math.nan, None]).decode())
    assert found[:2] == [math.inf, -math.inf]
    assert math.isnan(found[2])
    assert found[3] is None
    moment = datetime.datetime(2020, 1, 2, 3, 4, 5)
    for value, text in (
        (b"\xff\x00", "/wA="),
        (moment, "2020-01-02T03:04:05"),
        (moment.date(), "2020-01-02"),
        (datetime.timedelta(seconds=90), "0:01:30"),
    ):
        assert loads(dumps([value]).decode()) == [text]
        assert loads(dumps([value, 2**70]).decode()) == [text, 2**70]
    assert loads(dumps({5: "a"}).decode()) == {"5": "a"}


@pytest.mark.parametrize("beside", [1, 2**70])
def test_a_line_of_a_file_is_valid_json(beside: int) -> None:
    line = json_line({"a": [math.inf, {"b": math.nan}], "NaN": "-Infinity", "n": beside})
    assert line.endswith(b"}\n")

    def refuse(word: str) -> None:
        raise AssertionError(word)

    found = json.loads(line, parse_constant=refuse)
    assert found == {"a": [None, {"b": None}], "NaN": "-Infinity", "n": beside}


def test_what_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="surrogates not allowed"):
        dumps(["\ud800"])
    value: Any = 1
    for _ in range(MAX_DEPTH):
        value = [value]
    assert dumps(value).startswith(b"[[[")
    with pytest.raises(ValueError, match="nested deeper"):
        dumps([value])

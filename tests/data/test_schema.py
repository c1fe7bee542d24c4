"""Columns of any type in their one form."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trope.data.schema import (
    SCHEMA,
    blank_to_null,
    canonical,
    single_lists,
    split_names,
    strings,
)
from trope.errors import DataError


def made(**columns: Any) -> pa.Table:
    table = pa.table(columns)
    return canonical(table, np.arange(1, len(table) + 1), "here")


def test_known_columns_come_first_whatever_there_is() -> None:
    table = made(x=[1], text=["a"], id=["i"])
    assert table.schema.names == [*SCHEMA.names, "x"]
    assert table.schema.field("texts").type == SCHEMA.field("texts").type
    assert table.to_pylist() == [
        {
            "id": "i",
            "image": None,
            "texts": ["a"],
            "labels": [],
            "group": None,
            "split": None,
            "x": 1,
        }
    ]


def test_canonical_is_its_own_canonical_form() -> None:
    table = made(text=["a", "", None], labels=[["x"], [], None], split=["Dev", "", None])
    assert canonical(table, np.arange(1, 4), "here") == table


@pytest.mark.parametrize("count", [0, 1, 5])
def test_chunks_make_no_difference(count: int) -> None:
    columns = {
        "id": pa.array([str(i) if i % 2 else None for i in range(count)], pa.string()),
        "text": pa.array(["a"] * count, pa.string()),
        "texts": pa.array([["b", None]] * count, pa.list_(pa.string())),
        "split": pa.array(["Train", "dev", None, "TEST", ""][:count], pa.string()),
    }
    whole = made(**columns)
    parts = {
        name: pa.chunked_array([column.slice(i, 1) for i in range(count)], column.type)
        for name, column in columns.items()
    }
    assert made(**parts).to_pylist() == whole.to_pylist()
    if count == 5:
        assert whole.column("id").to_pylist() == ["row-1", "1", "row-3", "3", "row-5"]
        assert whole.column("split").to_pylist() == ["train", "val", None, "test", None]
        assert whole.column("texts").to_pylist() == [["a", "b"]] * 5


def test_sliced_columns() -> None:
    lists = pa.array([["x"], ["a", None], None, ["b", "c"], ["y"]]).slice(1, 3)
    assert made(texts=lists).column("texts").to_pylist() == [["a"], [], ["b", "c"]]
    words = pa.array(["x", "a", None, "b"]).slice(1)
    assert made(text=words).column("texts").to_pylist() == [["a"], [], ["b"]]


@pytest.mark.parametrize(
    ("cells", "expected"),
    [
        ([1, 2, None], ["1", "2", None]),
        ([1.0, None, 3.0], ["1", None, "3"]),
        ([1.5, 3.0], ["1.5", "3"]),
        ([float("nan"), 2.0], [None, "2"]),
        ([float("inf"), 2.0], ["inf", "2"]),
        ([1e300], ["1e+300"]),
        ([True, False], ["true", "false"]),
        ([None, None], [None, None]),
    ],
)
def test_strings(cells: list[Any], expected: list[str | None]) -> None:
    assert strings(pa.chunked_array([pa.array(cells)]), "x", "here").to_pylist() == expected


@pytest.mark.parametrize("cell", [b"x", [1], {"a": 1}], ids=["binary", "list", "struct"])
def test_strings_refused(cell: Any) -> None:
    with pytest.raises(DataError, match=r"here: column 'x' holds .*, expected text"):
        strings(pa.chunked_array([pa.array([cell])]), "x", "here")


words = st.none() | st.sampled_from(["", "a", " Train", "VALID", "न्याय"])


@given(st.lists(st.lists(words, max_size=4), max_size=4))
def test_against_plain_python(chunks: list[list[str | None]]) -> None:
    column = pa.chunked_array([pa.array(chunk, pa.string()) for chunk in chunks], pa.string())
    cells = [cell for chunk in chunks for cell in chunk]
    assert blank_to_null(column).to_pylist() == [cell or None for cell in cells]
    assert single_lists(column).to_pylist() == [[] if c is None else [c] for c in cells]
    aliases = {"valid": "val"}
    lower = [None if cell is None else cell.strip().lower() for cell in cells]
    assert split_names(column).to_pylist() == [
        None if c is None else aliases.get(c, c) for c in lower
    ]

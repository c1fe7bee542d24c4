"""Parquet: every type a column may have, texts that are none, and files that are none."""

from __future__ import annotations

import datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trope
from trope.data.writer import as_row, write_pairs
from trope.errors import DataError


def opened(folder: Path, *, collect: bool = False, **columns: Any) -> trope.Pairs:
    pq.write_table(pa.table(columns), folder / "pairs.parquet")
    return trope.open(folder, collect=collect)


def broken_texts(*cells: bytes) -> pa.Array:
    """A column that says it is UTF-8 and is not."""
    offsets = np.cumsum([0, *map(len, cells)]).astype(np.int32)
    buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(b"".join(cells))]
    return pa.Array.from_buffers(pa.string(), len(cells), buffers)


@pytest.mark.parametrize(
    "kind", [pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())]
)
def test_kinds_of_text(tmp_path: Path, kind: pa.DataType) -> None:
    column = pa.array(["a", None, "न्याय", ""]).cast(kind)
    pairs = opened(tmp_path, id=column, text=column, group=column)
    assert [pair.texts for pair in pairs] == [("a",), (), ("न्याय",), ()]
    assert pairs.ids == ["a", "row-2", "न्याय", "row-4"]
    assert [pair.group for pair in pairs] == ["a", None, "न्याय", None]


@pytest.mark.parametrize(
    "kind",
    [
        pa.list_(pa.string()),
        pa.large_list(pa.large_string()),
        pa.list_(pa.string(), 2),
        pa.list_(pa.dictionary(pa.int8(), pa.string())),
    ],
)
def test_kinds_of_lists(tmp_path: Path, kind: pa.DataType) -> None:
    column = pa.array([["a", "b"], None, [None, "c"], ["", "d"]], pa.list_(pa.string()))
    cells = (
        column.cast(kind)
        if pa.types.is_fixed_size_list(kind)
        else pa.array(column.to_pylist(), kind)
    )
    pairs = opened(tmp_path, texts=cells, labels=cells)
    expected = [("a", "b"), (), ("c",), ("", "d")]
    assert [pair.texts for pair in pairs] == expected
    assert [pair.labels for pair in pairs] == [tuple(filter(None, row)) for row in expected]


def test_numbers_as_names(tmp_path: Path) -> None:
    pairs = opened(
        tmp_path,
        id=pa.array([1.0, None, float("nan")]),
        text=pa.array([1.5, 2.0, 1e300]),
        group=pa.array([Decimal("1.50")] * 3),
        labels=pa.array([[1.0, 2.0], [3.0, None], []]),
        split=pa.array([1, 2, None]),
    )
    assert pairs.ids == ["1", "row-2", "row-3"]
    assert [pair.texts[0] for pair in pairs] == ["1.5", "2", "1e+300"]
    assert [pair.group for pair in pairs] == ["1.50"] * 3
    assert [pair.labels for pair in pairs] == [("1", "2"), ("3",), ()]
    assert [pair.split for pair in pairs] == ["1", "2", None]


def test_null_lists_that_hide_something(tmp_path: Path) -> None:
    """A list may be null and still span values in memory; those are not said."""
    hidden = pa.ListArray.from_arrays(
        pa.array([0, 2, 3]), pa.array(["x", "y", "z"]), mask=pa.array([True, False])
    )
    assert [pair.texts for pair in opened(tmp_path, texts=hidden)] == [(), ("z",)]


def test_extra_columns_keep_their_types(tmp_path: Path) -> None:
    when = datetime.datetime(2020, 1, 2, 3, 4, 5)
    extra = {
        "when": pa.array([when]),
        "zoned": pa.array([when], pa.timestamp("us", "UTC")),
        "day": pa.array([when.date()]),
        "wait": pa.array([datetime.timedelta(seconds=90)]),
        "price": pa.array([Decimal("1.50")]),
        "nested": pa.array([{"a": [1, {"b": "न्याय"}][:1]}]),
        "matrix": pa.array([[[1.0], [2.0]]]),
        "pairs": pa.array([[("k", 1)]], pa.map_(pa.string(), pa.int64())),
        "raw": pa.array([b"\xff\x00"]),
        "small": pa.array([5], pa.uint8()),
        "half": pa.array([np.float16(0.5)]),
        "word": pa.array(["a"]).dictionary_encode(),
        "nothing": pa.array([None]),
    }
    pairs = opened(tmp_path, text=pa.array(["t"]), **extra)
    for name, column in extra.items():
        assert pairs[0].extra[name] == column.to_pylist()[0], name
    assert len(pairs.fingerprint) == 32
    write_pairs(tmp_path / "again", pairs)
    row = orjson.loads((tmp_path / "again" / "pairs.jsonl").read_bytes())
    assert row["when"] == "2020-01-02T03:04:05"
    assert row["day"] == "2020-01-02"
    assert row["raw"] == "/wA="
    assert row["price"] == "1.50"
    again = trope.open(tmp_path / "again")[0].extra
    assert again["nested"] == {"a": [1]}
    assert again["matrix"] == [[1.0], [2.0]]


@pytest.mark.parametrize(
    ("column", "kind"),
    [
        ({"image": pa.array([{"bytes": b"x", "path": "y"}])}, "struct"),
        ({"image": pa.array([b"\xff\xd8"])}, "binary"),
        ({"text": pa.array([b"abc"])}, "binary"),
        ({"text": pa.array([b"abc"], pa.binary(3))}, "binary"),
        ({"texts": pa.array([[["a"]]])}, "list"),
        ({"text": pa.array(["a"]), "labels": pa.array([{"a": 1}])}, "struct"),
    ],
)
def test_columns_of_the_wrong_kind(tmp_path: Path, column: dict[str, Any], kind: str) -> None:
    name = list(column)[-1]
    with pytest.raises(DataError, match=rf"parquet: column '{name}' holds .*{kind}.*expected text"):
        opened(tmp_path, **column)


def test_texts_that_are_not_utf8(tmp_path: Path) -> None:
    lists = pa.ListArray.from_arrays(
        pa.array([0, 1, 1, 3, 4, 5]), broken_texts(b"a", b"b", b"\xff", b"c", b"d")
    )
    columns = {
        "id": pa.array(["1", "2", "3", "4", "5"]),
        "text": broken_texts(b"one", b"tw\xc3", "न".encode(), b"four", b"five"),
        "labels": lists,
        "extra": pa.StructArray.from_arrays(
            [broken_texts(b"p", b"q", b"r", b"s", b"\xe0\xa4")], ["inner"]
        ),
    }
    with pytest.raises(DataError, match=r"pairs\.parquet: row 2: 'text' is not UTF-8 text"):
        opened(tmp_path, **columns)
    pairs = opened(tmp_path, collect=True, **columns)
    assert pairs.ids == ["1", "4"]
    assert pairs.lines.tolist() == [1, 4]
    assert [row.line for row in pairs.rejected] == [2, 3, 5]
    assert [row.reason.split("'")[1] for row in pairs.rejected] == ["text", "labels", "extra"]
    assert "'id': '2'" in pairs.rejected[0].raw


def test_text_survives(tmp_path: Path, script: str) -> None:
    cells = pa.array([script])
    pair = opened(tmp_path, id=cells, texts=pa.array([[script]]), extra=cells)[0]
    assert as_row(pair) == {"id": script, "text": script, "extra": script}


def test_foreign_marks_mean_nothing(tmp_path: Path) -> None:
    field = pa.field("x", pa.string(), metadata={b"trope": b"json"})
    table = pa.table(
        [["t"], ["{not json"]], schema=pa.schema([pa.field("text", pa.string()), field])
    )
    pq.write_table(table, tmp_path / "pairs.parquet")
    assert trope.open(tmp_path)[0].extra == {"x": "{not json"}


def test_refused_files(tmp_path: Path) -> None:
    path = tmp_path / "pairs.parquet"
    opened(tmp_path, text=pa.array(["a" * 1_000] * 1_000))
    whole = path.read_bytes()
    damaged = whole[:40] + bytes(100) + whole[140:]
    for content in (b"rubbish", b"PAR1", whole[: len(whole) // 2], damaged, b"PAR1" * 100):
        path.write_bytes(content)
        with pytest.raises(
            DataError, match=r"pairs\.parquet: not a readable Parquet file"
        ) as caught:
            trope.open(path)
        assert "\n" not in str(caught.value)
    with pytest.raises(DataError, match="needs a column 'image', 'text' or 'texts'; found: a, b"):
        opened(tmp_path, a=pa.array([1]), b=pa.array([1]))
    with pytest.raises(DataError, match="empty: there is no row"):
        opened(tmp_path, text=pa.array([], pa.string()))
    twice = pa.table([["a"], ["b"]], names=["text", "text"])
    pq.write_table(twice, path)
    with pytest.raises(DataError, match="column 'text' appears twice"):
        trope.open(path)


def test_row_groups(tmp_path: Path) -> None:
    table = pa.table(
        {"id": [str(i) for i in range(100)], "texts": [["a"] * (i % 3) for i in range(100)]}
    )
    pq.write_table(table, tmp_path / "pairs.parquet", row_group_size=7)
    pairs = trope.open(tmp_path)
    assert pairs.text_counts.tolist() == [i % 3 for i in range(100)]
    assert pairs.ids == [str(i) for i in range(100)]

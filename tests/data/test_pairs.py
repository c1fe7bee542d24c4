"""Data sets in columns: what goes in comes out, selections agree with plain Python."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trope
from trope.data import selection
from trope.data.documents import loads
from trope.data.fingerprints import fingerprint
from trope.data.readers.labels import tidy
from trope.data.stores import MAX_FILE_BYTES, FolderImages, NoImages, inside
from trope.data.writer import as_row, write_pairs, write_rows
from trope.errors import DataError, UsageError
from trope.types import Pair

text = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
word = text.filter(bool)
label = text.map(tidy).filter(bool)
scalar = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | text
)
extra = st.recursive(
    scalar,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(word, inner, max_size=2),
    max_leaves=4,
)
KNOWN = {"id", "image", "text", "texts", "labels", "group", "split"}


@st.composite
def rows(draw: st.DrawFn) -> dict[str, Any]:
    """A row as `as_row` writes it: no gaps, one text under `text`, several under `texts`."""
    row: dict[str, Any] = {"id": draw(word)}
    said = draw(st.lists(text, max_size=3))
    if len(said) == 1 and said[0]:
        row["text"] = said[0]
    elif said:
        row["texts"] = said
    row |= {"labels": labels} if (labels := draw(st.lists(label, max_size=2))) else {}
    names = st.sampled_from(["image", "group"])
    row |= draw(st.dictionaries(names, word))
    row |= draw(st.dictionaries(st.just("split"), st.sampled_from(["train", "val", "test"])))
    others = text.filter(lambda name: name not in KNOWN)
    shared = st.sampled_from(["x", "y"])  # columns that several rows have, in different types
    return row | draw(st.dictionaries(shared | others, extra.filter(lambda v: v is not None)))


tables = st.lists(rows(), min_size=1, max_size=6).map(
    lambda found: [found[0] | {"image": found[0].get("image", "x")}, *found[1:]]
)


def told_apart(value: Any) -> Any:
    """A value in which true is not 1; whole and real numbers of a column may still mix."""
    if isinstance(value, dict):
        return {key: told_apart(item) for key, item in value.items()}
    if isinstance(value, list):
        return [told_apart(item) for item in value]
    return str(value) if isinstance(value, bool) else value


def opened(folder: Path, found: list[dict[str, Any]]) -> trope.Pairs:
    write_rows(folder / "pairs.jsonl", found)
    return trope.open(folder)


@given(tables)
@settings(max_examples=60)
def test_rows_come_back(tmp_path: Path, found: list[dict[str, Any]]) -> None:
    pairs = opened(tmp_path, found)
    assert told_apart([as_row(pair) for pair in pairs]) == told_apart(found)
    assert [as_row(pairs[i]) for i in range(-len(found), 0)] == found
    write_pairs(tmp_path / "again", pairs)
    assert trope.open(tmp_path / "again").fingerprint == pairs.fingerprint


@given(tables, st.data())
@settings(max_examples=25)
def test_selections(tmp_path: Path, found: list[dict[str, Any]], data: st.DataObject) -> None:
    pairs = opened(tmp_path, found)
    places = data.draw(st.lists(st.integers(0, len(found) - 1)))
    mask = data.draw(st.lists(st.booleans(), min_size=len(found), max_size=len(found)))
    names = data.draw(st.lists(st.sampled_from(["train", "val", "test", "none"]), max_size=2))
    taken = pairs.take(np.array(places, np.int64))
    assert [as_row(pair) for pair in taken] == [found[i] for i in places]
    assert taken.lines.tolist() == [i + 1 for i in places]
    kept = [row for row, keep in zip(found, mask, strict=True) if keep]
    assert [as_row(pair) for pair in pairs.where(np.array(mask, bool))] == kept
    wanted = [row for row in found if row.get("split") in names]
    assert [as_row(pair) for pair in pairs.in_split(*names)] == wanted
    again = taken.take(np.arange(len(places))[::-1])
    assert [as_row(pair) for pair in again] == [found[i] for i in reversed(places)]


def rechunked(table: pa.Table, size: int) -> pa.Table:
    return pa.Table.from_batches(table.to_batches(max_chunksize=size), table.schema)


@given(tables, st.integers(1, 5), st.data())
@settings(max_examples=25)
def test_fingerprint(
    tmp_path: Path, found: list[dict[str, Any]], size: int, data: st.DataObject
) -> None:
    pairs = opened(tmp_path, found)
    before = pairs.fingerprint
    assert fingerprint(rechunked(pairs.table, size)) == before
    assert pairs.take(np.arange(len(found))).fingerprint == before
    twice = pa.concat_tables([pairs.table, pairs.table]).slice(len(found))
    assert fingerprint(twice) == before
    place = data.draw(st.integers(0, len(found) - 1))
    name = data.draw(st.sampled_from(["id", "group", "split"]))
    cells = pairs.column(name).to_pylist()
    cells[place] = data.draw(st.none() | text.filter(lambda cell: cell != cells[place]))
    changed = cells != pairs.column(name).to_pylist()
    other = pairs.with_column(name, pa.array(cells, pa.string()))
    assert (other.fingerprint != before) == changed


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ([["a", "b"]], [["ab"]]),
        ([["a"], []], [[], ["a"]]),
        ([[], None], [None, []]),
        (["a", "bc"], ["ab", "c"]),
        (["", None], [None, ""]),
        ([1, 2], [2, 1]),
        ([1, None], [None, 1]),
        ([1], [1.0]),
        ([True], [False]),
        ([{"a": 1}], [{"a": 2}]),
        ([b"\xff"], [b"\xfe"]),
    ],
)
def test_fingerprint_tells_apart(first: list[Any], second: list[Any]) -> None:
    assert fingerprint(pa.table({"x": first})) != fingerprint(pa.table({"x": second}))
    assert fingerprint(pa.table({"x": first})) != fingerprint(pa.table({"y": first}))


def test_fingerprint_ignores_what_lies_under_a_gap() -> None:
    mask = np.array([True, False])
    first = pa.array(np.array([1, 2]), mask=mask)
    second = pa.array(np.array([7, 2]), mask=mask)
    assert fingerprint(pa.table({"x": first})) == fingerprint(pa.table({"x": second}))
    letters = pa.array(["a", "b", "a"])
    coded = letters.dictionary_encode()
    other = pa.DictionaryArray.from_arrays(pa.array([1, 0, 1]), pa.array(["b", "a"]))
    assert fingerprint(pa.table({"x": coded})) == fingerprint(
        pa.table({"x": other.cast(coded.type)})
    )


class TestTablesBeyondTwoGigabytes:
    @given(tables, st.data())
    @settings(max_examples=20)
    def test_same_rows(
        self, tmp_path: Path, found: list[dict[str, Any]], data: st.DataObject
    ) -> None:
        table = rechunked(opened(tmp_path, found).table, 3)
        places = data.draw(st.lists(st.integers(0, len(found) - 1)))
        chosen = np.array(sorted(set(places)) if data.draw(st.booleans()) else places, np.int64)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(selection, "SMALL", 0)
            patch.setattr(selection, "PIECE", 2)
            found_rows = selection.select(table, chosen)
        assert found_rows.to_pylist() == table.take(pa.array(chosen)).to_pylist()
        assert found_rows.schema == table.schema

    def test_really(self) -> None:
        """Three gigabytes of text, all of it the same 20 MB in memory."""
        chunk = pa.array(["x" * 1_000] * 20_000)
        table = pa.table({"texts": pa.chunked_array([chunk] * 150)})
        places = np.array([0, 2_999_999, 1_500_000])
        taken = selection.select(table, np.sort(places))
        assert taken.column("texts").to_pylist() == ["x" * 1_000] * 3


class TestColumns:
    @pytest.fixture
    def pairs(self, tmp_path: Path) -> trope.Pairs:
        return opened(
            tmp_path,
            [
                {"id": "a", "image": "1.jpg", "text": "one"},
                {"id": "b", "texts": ["two", "", "three"], "x": {"y": 1}},
                {"id": "c", "image": "3.jpg", "x": 5},
            ],
        )

    def test_views(self, pairs: trope.Pairs) -> None:
        assert len(pairs) == 3
        assert pairs.ids == ["a", "b", "c"]
        assert pairs.extra_columns == ["x"]
        assert pairs.has_image.tolist() == [True, False, True]
        assert pairs.text_counts.tolist() == [1, 3, 0]
        texts, owners = pairs.flat_texts()
        assert texts.to_pylist() == ["one", "two", "", "three"]
        assert owners.tolist() == [0, 1, 1, 1]
        assert [loads(cell) for cell in pairs.column("x").to_pylist() if cell] == [{"y": 1}, 5]
        assert "Pairs(root=" in repr(pairs)

    def test_wrong_names_and_places(self, pairs: trope.Pairs) -> None:
        with pytest.raises(UsageError, match=r"no column 'txts'; did you mean 'texts'\?"):
            pairs.column("txts")
        for place in (3, -4):
            with pytest.raises(IndexError):
                pairs[place]
        assert pairs[-1].id == "c"

    def test_with_column(self, pairs: trope.Pairs) -> None:
        changed = pairs.with_column("split", pa.array(["train", "test", None]))
        assert [pair.split for pair in changed] == ["train", "test", None]
        assert [pair.split for pair in pairs] == [None] * 3
        added = pairs.with_column("new", pa.array([1, 2, 3]))
        assert [pair.extra["new"] for pair in added] == [1, 2, 3]
        replaced = pairs.with_column("x", pa.array(["{", "[", "5"]))
        assert [pair.extra["x"] for pair in replaced] == ["{", "[", "5"]

    def test_pickle_and_identity(self, pairs: trope.Pairs) -> None:
        again = pickle.loads(pickle.dumps(pairs))
        assert list(again) == list(pairs)
        assert again.fingerprint == pairs.fingerprint
        assert pairs in {pairs}
        assert pairs != again
        assert pairs in [again, pairs]


class TestFolderImages:
    def test_reads_and_stamps(self, tmp_path: Path, write_jpeg: Callable[..., Path]) -> None:
        path = write_jpeg("in/न्याय 1.jpg")
        images = FolderImages(tmp_path, pa.chunked_array([["in/न्याय 1.jpg", None, "none.jpg"]]))
        assert images.read(0) == path.read_bytes()
        before = images.stamp(0)
        assert before == images.take(np.array([1, 0])).stamp(1)
        path.write_bytes(b"other")
        assert images.stamp(0) != before
        for read in (images.read, images.stamp):
            with pytest.raises(DataError, match="row 2 has no image"):
                read(1)
            with pytest.raises(DataError, match=r"none\.jpg: No such file"):
                read(2)
        assert pickle.loads(pickle.dumps(images)).read(0) == b"other"

    def test_what_never_ends_is_refused(self, tmp_path: Path) -> None:
        (tmp_path / "zero.jpg").symlink_to("/dev/zero")
        (tmp_path / "folder.jpg").mkdir()
        with (tmp_path / "huge.jpg").open("wb") as handle:
            handle.truncate(MAX_FILE_BYTES + 1)
        images = FolderImages(tmp_path, pa.chunked_array([["zero.jpg", "folder.jpg", "huge.jpg"]]))
        for row, words in enumerate(
            ("not a plain file", "not a plain file", "larger than 256 MiB")
        ):
            with pytest.raises(DataError, match=words):
                images.read(row)

    @pytest.mark.parametrize(
        ("path", "why"),
        [
            ("../x.jpg", r"has '\.\.'"),
            ("images/../x.jpg", r"has '\.\.'"),
            ("/etc/passwd", "is absolute"),
            ("C:\\x.jpg", "is absolute"),
            ("a\x00b", "names no file"),
            (".", "names no file"),
            ("", "names no file"),
        ],
    )
    def test_paths_that_are_refused(self, tmp_path: Path, path: str, why: str) -> None:
        with pytest.raises(DataError, match=f": {why}; a path must lead from"):
            inside(tmp_path, path)
        with pytest.raises(DataError):
            FolderImages(tmp_path, pa.chunked_array([[path]])).read(0)


def test_no_images() -> None:
    for read in (NoImages().read, NoImages().take(np.array([0])).stamp):
        with pytest.raises(DataError, match="row 1 has no image"):
            read(0)


class TestWriter:
    def test_as_row_leaves_gaps_out(self) -> None:
        assert as_row(Pair("a")) == {"id": "a"}
        assert as_row(Pair("a", texts=("",))) == {"id": "a", "texts": [""]}
        assert as_row(Pair("a", texts=("x",), extra={"y": None, "z": 0})) == {
            "id": "a",
            "text": "x",
            "z": 0,
        }

    def test_a_failure_keeps_the_old_file(self, tmp_path: Path) -> None:
        assert write_rows(tmp_path / "x.jsonl", [{"a": 1}]) == 1
        with pytest.raises(ValueError, match="surrogates"):
            write_rows(tmp_path / "x.jsonl", [{"a": 2}, {"a": "\ud800"}])
        assert (tmp_path / "x.jsonl").read_text() == '{"a":1}\n'
        assert list(tmp_path.iterdir()) == [tmp_path / "x.jsonl"]

"""JSON lines: odd but valid files are read, broken lines are named and kept."""

from __future__ import annotations

import json
import math
import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trope
from trope.data.readers import jsonl, lines
from trope.data.writer import as_row
from trope.errors import DataError


def write(folder: Path, content: bytes | str) -> Path:
    path = folder / "pairs.jsonl"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def opened(folder: Path, *rows: Any, collect: bool = False) -> trope.Pairs:
    return trope.open(write(folder, "\n".join(map(json.dumps, rows))), collect=collect)


def numbered(count: int) -> list[bytes]:
    return [b'{"id": "%d", "text": "t%d"}' % (i, i) for i in range(1, count + 1)]


class TestBrokenLines:
    @pytest.mark.parametrize(
        ("line", "reason"),
        [
            (b'{"id": "17", "text": "t"', "not valid JSON"),
            (b'{"id": "17",, "text": "t"}', "not valid JSON"),
            (b"rubbish", "not valid JSON"),
            (
                b'  {"id": "17" "text": 1}  ',
                "not valid JSON (Expecting ',' delimiter at column 15)",
            ),
            (
                b'{"id": "17", "text": "\xff\xfe"}',
                "not UTF-8 text; looks like Windows-1252: save it",
            ),
            (b'{"id": "17", "text": "\xe0\xff\x9d"}', "not UTF-8 text; save it as UTF-8 (invalid"),
            (b'{"id": "17", "text": "\\ud800"}', "half of a surrogate pair"),
            (b'{"text": "raw \x00 control"}', "not valid JSON"),
            (b'["17", "t"]', "expected an object {…}, found list"),
            (b'"17"', "expected an object {…}, found str"),
            (b"17", "expected an object {…}, found int"),
            (b"null", "expected an object {…}, found NoneType"),
            (b'{"a": 1} {"b": 2}', "not valid JSON (Extra data"),
            (b'{"a": 1}, {"b": 2}', "not valid JSON (Extra data"),
            (b'{"id": true, "text": "t"}', "'id': expected text, found true or false"),
            (b'{"id": {"a": 1}, "text": "t"}', "'id': expected text, found an object"),
            (b'{"id": "17", "image": ["a"]}', "'image': expected text, found a list"),
            (b'{"id": "17", "texts": [["a"]]}', "'texts': expected text, found a list"),
            (b'{"id": "17", "text": "t", "x": ' + b"[" * 700 + b"]" * 700 + b"}", "nested"),
            (b'{"id": "17", "x": ' + b"[" * 5_000 + b"]" * 5_000 + b"}", "not valid JSON"),
            (b'{"id": "17", "x": ' + b"9" * 5_000 + b"}", "not valid JSON"),
        ],
    )
    def test_line_17(self, tmp_path: Path, line: bytes, reason: str) -> None:
        content = numbered(30)
        content[16] = line
        path = write(tmp_path, b"\n".join(content))
        with pytest.raises(DataError) as caught:
            trope.open(tmp_path)
        assert str(caught.value).startswith(f"{path}:17: ")
        assert reason in str(caught.value)
        assert "\n" not in str(caught.value)
        pairs = trope.open(tmp_path, collect=True)
        assert pairs.ids == [str(i) for i in range(1, 31) if i != 17]
        assert pairs.lines.tolist() == [i for i in range(1, 31) if i != 17]
        (rejected,) = pairs.rejected
        assert (rejected.line, rejected.raw) == (17, line.decode("utf-8", "backslashreplace"))
        assert reason in rejected.reason

    def test_lines_that_are_valid_only_together(self, tmp_path: Path) -> None:
        """Joined by commas these would be as many objects as there are lines."""
        odd = [b'{"id": "a", "x": [{"y": 1}', b'{"y": 2}]}', b'{"id": "b"},{"id": "c"}']
        pairs = trope.open(write(tmp_path, b"\n".join([*odd, *numbered(2)])), collect=True)
        assert pairs.ids == ["1", "2"]
        assert [row.raw.encode() for row in pairs.rejected] == odd

    def test_long_broken_line_is_kept_whole(self, tmp_path: Path) -> None:
        line = '{"text": "' + "न्याय " * 50_000
        pairs = trope.open(write(tmp_path, f'{{"text": "a"}}\n{line}\n'), collect=True)
        assert pairs.rejected[0].raw == line

    def test_rejected_rows_come_in_order(self, tmp_path: Path) -> None:
        content = numbered(9)
        content[2], content[5], content[7] = b'{"id": true}', b"x", b'{"id": []}'
        pairs = trope.open(write(tmp_path, b"\r\n".join(content)), collect=True)
        assert [row.line for row in pairs.rejected] == [3, 6, 8]
        assert [row.raw for row in pairs.rejected] == ['{"id": true}', "x", '{"id": []}']

    def test_nothing_but_rejected_rows(self, tmp_path: Path) -> None:
        pairs = trope.open(write(tmp_path, b"x\ny\n"), collect=True)
        assert len(pairs) == 0
        assert len(pairs.rejected) == 2
        assert list(pairs) == []


class TestOddButValid:
    @pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\n\n", b"  \n \t\r\n"])
    @pytest.mark.parametrize("last", [True, False])
    @pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
    def test_line_ends(self, tmp_path: Path, end: bytes, last: bool, mark: bytes) -> None:
        content = mark + end.join(numbered(5)) + (end if last else b"")
        pairs = trope.open(write(tmp_path, content))
        assert [pair.texts for pair in pairs] == [(f"t{i}",) for i in range(1, 6)]
        step = end.count(b"\n")
        assert pairs.lines.tolist() == [1 + step * i for i in range(5)]

    @pytest.mark.parametrize("block", [1, 7, 64, 1_000])
    def test_blocks_make_no_difference(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
    ) -> None:
        rows = [{"id": str(i), "text": "é" * (i % 50), "n": i, "f": i / 3} for i in range(100)]
        whole = opened(tmp_path, *rows)
        monkeypatch.setattr(lines, "BLOCK", block)
        pieces = trope.open(tmp_path)
        assert list(pieces) == list(whole)
        assert pieces.lines.tolist() == list(range(1, 101))
        assert pieces.fingerprint == whole.fingerprint

    def test_five_megabyte_line(self, tmp_path: Path) -> None:
        text = "न्याय" * 350_000
        pairs = opened(tmp_path, {"text": "a"}, {"text": text}, {"text": "b"})
        assert [pair.texts for pair in pairs] == [("a",), (text,), ("b",)]

    def test_line_without_end_is_refused_before_memory_is_full(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(lines, "MAX_LINE", 2 * lines.BLOCK)
        path = write(tmp_path, b'{"text": "a"}\n' + b"x" * (4 * lines.BLOCK))
        with pytest.raises(DataError, match=rf"{path}:2: a line of over 2 MiB"):
            trope.open(path)

    def test_text_survives(self, tmp_path: Path, script: str) -> None:
        row = {"id": script, "text": script, "labels": [script], "group": script, script: script}
        (pair,) = opened(tmp_path, row)
        assert as_row(pair) == row | {"labels": [unicodedata.normalize("NFC", script)]}

    def test_last_of_repeated_keys_counts(self, tmp_path: Path) -> None:
        (pair,) = trope.open(write(tmp_path, '{"text": "a", "text": "b"}'))
        assert pair.texts == ("b",)

    @pytest.mark.parametrize("content", [b"", b"\n\n \r\n", b"\xef\xbb\xbf"])
    def test_empty(self, tmp_path: Path, content: bytes) -> None:
        with pytest.raises(DataError, match="empty"):
            trope.open(write(tmp_path, content))

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR", "binary content"),
            ('{"text": "a"}'.encode("utf-16"), "UTF-16 text; save it as UTF-8"),
            (bytes(range(1, 256)) * 40, "pairs.jsonl:1: not valid JSON"),
        ],
    )
    def test_binary_rubbish(self, tmp_path: Path, content: bytes, words: str) -> None:
        with pytest.raises(DataError, match=words):
            trope.open(write(tmp_path, content))

    def test_needed_columns(self, tmp_path: Path) -> None:
        with pytest.raises(
            DataError, match="needs a column 'image', 'text' or 'texts'; found: a, b"
        ):
            opened(tmp_path, {"b": 1}, {"a": 2})
        with pytest.raises(DataError, match="found: no columns"):
            opened(tmp_path, {}, {})

    def test_rows_without_a_field_are_rows(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(lines, "BLOCK", 4)
        pairs = opened(tmp_path, {"text": "a"}, {}, {}, {"text": "b"})
        assert [pair.texts for pair in pairs] == [("a",), (), (), ("b",)]
        assert pairs.ids == ["row-1", "row-2", "row-3", "row-4"]


class TestKnownColumns:
    @pytest.mark.parametrize(
        ("value", "expected"),
        [(7, "7"), (7.0, "7"), (7.5, "7.5"), (2**70, str(2**70)), ("007", "007"), ("", "row-1")],
    )
    def test_ids(self, tmp_path: Path, value: Any, expected: str) -> None:
        assert opened(tmp_path, {"id": value, "text": "a"}).ids == [expected]

    @pytest.mark.parametrize(
        ("value", "expected"),
        [
            ("cat", ("cat",)),
            ("", ()),
            (None, ()),
            (3, ("3",)),
            ([3, 4.0, "x", None], ("3", "4", "x")),
            ([], ()),
            (["a", ""], ("a", "")),
        ],
    )
    def test_lists(self, tmp_path: Path, value: Any, expected: tuple[str, ...]) -> None:
        for name in ("labels", "texts"):
            # alone and among rows of other types
            for others in ((), ({"text": "b", name: ["z"]}, {"text": "c", name: 5})):
                pair = opened(tmp_path, {"image": "a", name: value}, *others)[0]
                there = expected if name == "texts" else tuple(filter(None, expected))
                assert getattr(pair, name) == there

    def test_text_and_texts(self, tmp_path: Path) -> None:
        pairs = opened(
            tmp_path,
            {"text": "a", "texts": ["b", "a", "b"]},
            {"texts": ["b", "b"]},
            {"text": "c"},
            {"text": ["d", "e"]},
            {"text": ""},
            {"text": float("nan")},
        )
        said = [("a", "b", "b"), ("b", "b"), ("c",), ("d", "e"), (), ()]
        assert [pair.texts for pair in pairs] == said

    def test_split_names(self, tmp_path: Path) -> None:
        names = ["train", " Validation ", "TEST", "restval", "other", "", None]
        pairs = opened(tmp_path, *({"text": "a", "split": name} for name in names))
        found = [pair.split for pair in pairs]
        assert found == ["train", "val", "test", "train", "other", None, None]


def same(first: Any, second: Any) -> bool:
    """Equal in value and in type, where JSON tells types apart."""
    return json.dumps(first, sort_keys=True) == json.dumps(second, sort_keys=True)


class TestExtraColumns:
    @pytest.mark.parametrize(
        "values",
        [
            [1, 2, None],
            [1.5, -0.0, 1e300],
            [True, False],
            ["2020-01-01", "2020-01-01T00:00:00Z", "12:30"],
            [2**53 + 1, 2**63 - 1, -(2**63)],
            [2**63, 1],
            [2**64, -(2**64), 1],
            [123456789012345678901234567890, 0.5],
            [2**53 + 1, 0.5],
            [1, "a", None, True, 1.5, [1], {"a": 1}],
            [True, 1.5],
            [1.5, True],
            [[1, 2], [], None, [3]],
            [[1.5, True], [2]],
            [["a"], [None, "b"]],
            [[None, None], [None]],
            [[None, None], [], [1]],
            [[1], ["a"]],
            [[], []],
            [[[1], [2]], [[]]],
            [{"a": {"b": [1, None, {"c": "न्याय"}]}}, {"a": 1}, {}],
            [{"big": 2**70}, {"big": -(2**70)}],
            [{"a": 1.0}, {"a": 1}],
            [None, None],
        ],
    )
    @pytest.mark.parametrize("block", [1, 2**20])
    def test_come_back_exactly(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, values: list[Any], block: int
    ) -> None:
        monkeypatch.setattr(lines, "BLOCK", block)
        pairs = opened(tmp_path, *({"id": "i", "text": "t", "x": value} for value in values))
        found = [pair.extra["x"] for pair in pairs]
        assert found == values
        if {int, float} != {type(value) for value in values}:
            assert same(found, values)

    def test_gaps(self, tmp_path: Path) -> None:
        pairs = opened(tmp_path, {"text": "a", "x": 1}, {"text": "b"}, {"text": "c", "y": [{}]})
        assert [dict(pair.extra) for pair in pairs] == [
            {"x": 1, "y": None},
            {"x": None, "y": None},
            {"x": None, "y": [{}]},
        ]

    def test_not_a_number(self, tmp_path: Path) -> None:
        content = '{"text": "a", "x": NaN, "y": Infinity}\n{"text": "b", "x": 1.5, "y": {"z": NaN}}'
        pairs = trope.open(write(tmp_path, content))
        assert [pair.extra["x"] for pair in pairs] == [None, 1.5]
        assert pairs[0].extra["y"] == math.inf
        assert math.isnan(pairs[1].extra["y"]["z"])

    def test_long_digits_inside_texts_are_no_trouble(self, tmp_path: Path) -> None:
        rows = [{"text": "1" * length, "x": length} for length in range(1, 80)]
        assert [as_row(pair)["text"] for pair in opened(tmp_path, *rows)] == [
            r["text"] for r in rows
        ]

    @given(st.integers(10**18, 10**25), st.booleans(), st.text(st.characters(codec="ascii")))
    @settings(max_examples=60)
    def test_no_long_number_is_rounded(
        self, tmp_path: Path, number: int, negative: bool, before: str
    ) -> None:
        number = -number if negative else number
        (pair,) = opened(tmp_path, {"text": before + "x", "n": {"deep": [number]}})
        assert pair.extra["n"] == {"deep": [number]}

    def test_the_quick_look_finds_every_long_number(self) -> None:
        for offset in range(8):
            assert jsonl._has_long_number(b"x" * offset + b"-" + b"9" * 19)
            assert jsonl._has_long_number(b"x" * offset + b"9" * 20 + b"y")
            assert not jsonl._has_long_number(b"x" * offset + b"9" * 19)
        assert not jsonl._has_long_number(b"")

"""CSV and TSV: what spreadsheets write is read, bad rows are named by their line."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trope
from trope.data.readers import lines, records
from trope.data.writer import as_row
from trope.errors import DataError


def write(folder: Path, content: bytes | str, name: str = "pairs.csv") -> Path:
    path = folder / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def rows_of(folder: Path, content: bytes | str, name: str = "pairs.csv") -> list[dict[str, Any]]:
    return [as_row(pair) for pair in trope.open(write(folder, content, name))]


class TestDialects:
    @pytest.mark.parametrize("mark", ["", "\ufeff"])
    @pytest.mark.parametrize("end", ["\n", "\r\n"])
    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    def test_delimiters_and_ends(self, tmp_path: Path, delimiter: str, end: str, mark: str) -> None:
        table = [["id", "text", "note"], ["1", "a, b; c", "x"], ["2", f"t{delimiter}t", ""]]
        text = io.StringIO(newline="")
        csv.writer(text, delimiter=delimiter, lineterminator=end).writerows(table)
        found = rows_of(tmp_path, mark + text.getvalue())
        assert found == [
            {"id": "1", "text": "a, b; c", "note": "x"},
            {"id": "2", "text": f"t{delimiter}t"},
        ]

    @pytest.mark.parametrize("name", ["a.tsv", "A.TSV"])
    def test_tabs_by_name(self, tmp_path: Path, name: str) -> None:
        assert rows_of(tmp_path, "text\ta,b,c\nx\t5\n", name) == [
            {"id": "row-2", "text": "x", "a,b,c": 5}
        ]

    def test_quotes_and_lines_inside_cells(self, tmp_path: Path) -> None:
        content = 'id,text\n1,"he said ""yes""\nand left, ""so"""\n2,"\r\n"\n3,"a\n\n\nb"\n4,z'
        pairs = trope.open(write(tmp_path, content))
        texts = ['he said "yes"\nand left, "so"', "\r\n", "a\n\n\nb", "z"]
        assert [pair.texts for pair in pairs] == [(text,) for text in texts]
        assert pairs.lines.tolist() == [2, 4, 6, 10]

    def test_header(self, tmp_path: Path) -> None:
        assert rows_of(tmp_path, ' id , text ,"two\nlines",\n1,a,b,c\n') == [
            {"id": "1", "text": "a", "two\nlines": "b", "column 4": "c"}
        ]
        with pytest.raises(DataError, match="column 'text' appears twice"):
            trope.open(write(tmp_path, "text,id,text\na,b,c\n"))
        with pytest.raises(DataError, match=r"needs a column 'image'.*found: caption, id"):
            trope.open(write(tmp_path, "id,caption\n1,a\n"))
        with pytest.raises(DataError, match=r"pairs\.csv:1: not UTF-8 text"):
            trope.open(write(tmp_path, "id,text,größe\n1,a,b".encode("latin-1")))
        with pytest.raises(DataError, match=r"pairs\.csv:1: not valid CSV"):
            trope.open(write(tmp_path, 'id,"text\n1,a\n'))

    @pytest.mark.parametrize("content", ["Datei,Überschrift\na.jpg,x\n", "a.jpg,x\nb.jpg,y\n"])
    def test_unknown_names_and_no_header(self, tmp_path: Path, content: str) -> None:
        with pytest.raises(DataError) as caught:
            trope.open(write(tmp_path, content))
        assert "`trope check DATA --column text=NAME --column image=NAME --fix" in str(caught.value)
        assert "the first line has to name the columns" in str(caught.value)

    @pytest.mark.parametrize("content", ["id,text", "id,text\n", "id,text\r\n\r\n"])
    def test_header_only(self, tmp_path: Path, content: str) -> None:
        with pytest.raises(DataError, match="empty: there is no row"):
            trope.open(write(tmp_path, content))

    @pytest.mark.parametrize(
        ("content", "words"),
        [
            ("id,text\n1,a\n".encode("utf-16"), "UTF-16 text; save it as UTF-8"),
            (b"PK\x03\x04\x00\x00\xff\xfe" + bytes(99), "binary content"),
        ],
    )
    def test_binary(self, tmp_path: Path, content: bytes, words: str) -> None:
        with pytest.raises(DataError, match=words):
            trope.open(write(tmp_path, content))


class TestExcel:
    @pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
    @pytest.mark.parametrize("told", ["sep={}\r\n", '\ufeff"SEP={}"\n'])
    @pytest.mark.parametrize("block", [8, 2**20])
    def test_told_delimiter(
        self,
        tmp_path: Path,
        delimiter: str,
        told: str,
        block: int,
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        monkeypatch.setattr(lines, "BLOCK", block)
        header = delimiter.join(["id", "a,b;c\td|e".replace(delimiter, ""), "text"])
        content = told.format(delimiter) + f"{header}\r\n{delimiter.join(['1', 'x', 'y'])}\r\n"
        pairs = trope.open(write(tmp_path, content))
        assert pairs[0].texts == ("y",)
        assert pairs.lines.tolist() == [3]

    def test_the_header_is_named_by_its_own_line(self, tmp_path: Path) -> None:
        with pytest.raises(DataError, match=r"pairs\.csv:2: not UTF-8 text"):
            trope.open(write(tmp_path, "sep=;\nid;größe\n".encode("cp1252")))

    @pytest.mark.parametrize(
        ("encoding", "western"),
        [("cp1252", True), ("latin-1", True), ("cp1251", False), ("shift-jis", False)],
    )
    def test_other_encodings_are_named(self, tmp_path: Path, encoding: str, western: bool) -> None:
        said = {"cp1251": "Справедливость слепа", "shift-jis": "正義は盲目である"}
        text = said.get(encoding, "naïve café, größer")
        content = f'id,text\n1,plain\n2,"{text}"\n'.encode(encoding)
        (rejected,) = trope.open(write(tmp_path, content), collect=True).rejected
        assert rejected.line == 3
        assert rejected.reason.startswith("'text' is not UTF-8 text; ")
        assert rejected.reason.endswith("save it as UTF-8")
        assert ("looks like Windows-1252" in rejected.reason) == western

    def test_one_lost_letter_is_no_other_encoding(self, tmp_path: Path) -> None:
        content = "text\nन्याय 1234567890 ".encode() + b"\xe9\n"
        (rejected,) = trope.open(write(tmp_path, content), collect=True).rejected
        assert "Windows" not in rejected.reason

    def test_a_blank_before_quotation_marks_is_told(self, tmp_path: Path) -> None:
        content = 'id, text\n1, "one, two"\n2, three, four\n'
        reasons = [
            row.reason for row in trope.open(write(tmp_path, content), collect=True).rejected
        ]
        assert [("a blank before a quotation mark" in reason) for reason in reasons] == [
            True,
            False,
        ]


class TestBadRows:
    CONTENT = (
        b"id,text\n"
        b"1,a\n"
        b'2,"two\nlines"\n'
        b"3\n"  # line 5: too few
        b"4,b,c\n"  # line 6: too many
        b"\n"
        b"5,\xff\xfe\n"  # line 8: not UTF-8
        b'6,"say "no""\n'  # line 9: quotes not doubled
        b'7,"left open\n'  # line 10: swallows what follows
        b"8,c\n"
        b'9,"d"\n'
        b"10,e"
    )

    def test_named_by_line_and_kept(self, tmp_path: Path) -> None:
        pairs = trope.open(write(tmp_path, self.CONTENT), collect=True)
        assert pairs.ids == ["1", "2", "8", "9", "10"]
        assert pairs.lines.tolist() == [2, 3, 11, 12, 13]
        found = [(row.line, row.reason, row.raw) for row in pairs.rejected]
        assert [(line, raw) for line, _, raw in found] == [
            (5, "3"),
            (6, "4,b,c"),
            (8, "5,\\xff\\xfe"),
            (9, '6,"say "no""'),
            (10, '7,"left open'),
        ]
        assert "1 cells where the header has 2" in found[0][1]
        assert "3 cells where the header has 2" in found[1][1]
        assert "'text' is not UTF-8 text" in found[2][1]
        assert all("not valid CSV" in reason for _, reason, _ in found[3:])

    def test_first_one_is_an_error(self, tmp_path: Path) -> None:
        path = write(tmp_path, self.CONTENT)
        with pytest.raises(DataError, match=rf"{path}:5: 1 cells where the header has 2"):
            trope.open(path)

    @pytest.mark.parametrize("block", [1, 3, 17, 100])
    def test_blocks_make_no_difference(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
    ) -> None:
        whole = trope.open(write(tmp_path, self.CONTENT), collect=True)
        monkeypatch.setattr(lines, "BLOCK", block)
        pieces = trope.open(tmp_path, collect=True)
        assert list(pieces) == list(whole)
        assert pieces.rejected == whole.rejected
        assert pieces.lines.tolist() == whole.lines.tolist()

    def test_open_quote_does_not_swallow_the_file(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(records, "MAX_CELL", 50_000)
        monkeypatch.setattr(lines, "BLOCK", 10_000)
        content = 'id,text\n0,"open\n' + "".join(f"{i},text {i}\n" for i in range(1, 20_000))
        pairs = trope.open(write(tmp_path, content), collect=True)
        assert len(pairs) == 19_999
        assert [row.line for row in pairs.rejected] == [2]

    def test_limit_of_cells_is_put_back(self, tmp_path: Path) -> None:
        before = csv.field_size_limit()
        (pair,) = trope.open(write(tmp_path, f"text\n{'x' * 5_000_000}\n"))
        assert len(pair.texts[0]) == 5_000_000
        assert csv.field_size_limit() == before


class TestCells:
    def test_numbers_only_where_they_can_be_written_back(self, tmp_path: Path) -> None:
        columns = {
            "whole": (["1", "-20", ""], [1, -20, None]),
            "real": (["0.5", "-1.25", "2"], [0.5, -1.25, 2.0]),
            "powers": (["1e5", "2", "3"], ["1e5", "2", "3"]),
            "zeros": (["007", "1", "2"], ["007", "1", "2"]),
            "version": (["3.10", "3.9", "3.1"], ["3.10", "3.9", "3.1"]),
            "large": (["99999999999999999999", "1", "2"], ["99999999999999999999", "1", "2"]),
            "date": (["2020-01-01", "2021-01-01", ""], ["2020-01-01", "2021-01-01", None]),
            "words": (["nan", "inf", "1"], ["nan", "inf", "1"]),
            "truth": (["true", "false", "1"], ["true", "false", "1"]),
            "empty": (["", "", ""], [None, None, None]),
            "spaces": ([" 1", "2 ", "3"], [" 1", "2 ", "3"]),
        }
        lines = zip(*(cells for cells, _ in columns.values()), strict=True)
        content = "\n".join(["text," + ",".join(columns), *(f"t,{','.join(row)}" for row in lines)])
        pairs = trope.open(write(tmp_path, content))
        for name, (_, expected) in columns.items():
            found = [pair.extra[name] for pair in pairs]
            assert found == expected, name
            assert list(map(type, found)) == list(map(type, expected)), name

    def test_known_columns_stay_text(self, tmp_path: Path) -> None:
        content = "id,image,text,group,split,labels\n007,1,2.50,3,Validation,4|5\n"
        assert rows_of(tmp_path, content) == [
            {
                "id": "007",
                "image": "1",
                "text": "2.50",
                "group": "3",
                "split": "val",
                "labels": ["4", "5"],
            }
        ]

    @pytest.mark.parametrize(
        ("cell", "labels"),
        [
            ("a|b", ["a", "b"]),
            (" a | b |", ["a", "b"]),
            ("|", []),
            ("", []),
            ('"[""a|b"", 3]"', ["a|b", "3"]),
            ("[sic]", ["[sic]"]),
        ],
    )
    def test_labels(self, tmp_path: Path, cell: str, labels: list[str]) -> None:
        for other in ("z", '"[""z""]"'):  # with and without a JSON list in the column
            found = rows_of(tmp_path, f"text;labels\nt;{cell}\nu;{other}\n".replace(";", ","))
            assert found[0].get("labels", []) == labels
            assert found[1]["labels"] == ["z"]

    def test_texts(self, tmp_path: Path) -> None:
        content = 'image,texts\n1,"[""a"", ""b, c""]"\n2,one text\n3,[not json\n4,\n5,"[[1]]"\n'
        pairs = trope.open(write(tmp_path, content))
        texts = [("a", "b, c"), ("one text",), ("[not json",), (), ("[[1]]",)]
        assert [pair.texts for pair in pairs] == texts

    def test_text_survives(self, tmp_path: Path, script: str) -> None:
        text = io.StringIO(newline="")
        csv.writer(text).writerows([["id", "text", "extra"], ["1", script, script]])
        assert rows_of(tmp_path, text.getvalue()) == [{"id": "1", "text": script, "extra": script}]


cells = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ['"', '""', "a\nb", "\r\n", ",", '"\n', "x"]
)


@given(st.lists(st.tuples(cells, cells, cells), min_size=1, max_size=8))
@settings(max_examples=60)
def test_reads_what_the_standard_library_writes(
    tmp_path: Path, table: list[tuple[str, str, str]]
) -> None:
    text = io.StringIO(newline="")
    csv.writer(text).writerows([("text", "group", "x"), *table])
    pairs = trope.open(write(tmp_path, text.getvalue()))
    assert [(pair.texts or ("",))[0] for pair in pairs] == [row[0] for row in table]
    assert [pair.group or "" for pair in pairs] == [row[1] for row in table]
    extra = [pair.extra["x"] for pair in pairs]
    assert ["" if cell is None else str(cell) for cell in extra] == [row[2] for row in table]

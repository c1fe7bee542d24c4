"""`open` finds the right reader, and says in one line what it cannot open."""

from __future__ import annotations

import builtins
import csv
import io
import json
import os
import tarfile
from contextlib import suppress
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import trope
from trope.errors import DataError, UsageError

ROW = '{"id": "1", "text": "a"}\n'


def test_forms_of_a_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "pairs.jsonl").write_text(ROW)
    monkeypatch.chdir(tmp_path)
    for path in (tmp_path, str(tmp_path), tmp_path / "pairs.jsonl", ".", "pairs.jsonl"):
        pairs = trope.open(path)
        assert pairs.ids == ["1"]
        assert pairs.root.resolve() == tmp_path.resolve()


@pytest.mark.parametrize("name", ["x.jsonl", "x.ndjson", "X.JSONL"])
def test_any_name_of_a_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(ROW)
    assert trope.open(tmp_path / name).ids == ["1"]


def test_no_such_thing(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path / "none.jsonl", tmp_path / "a\x00b"):
        with pytest.raises(UsageError, match="no such file or folder"):
            trope.open(path)
    with pytest.raises(UsageError, match="no file or folder was named"):
        trope.open("")


def test_unknown_kind(tmp_path: Path) -> None:
    (tmp_path / "x.xlsx").write_text("x")
    with pytest.raises(UsageError, match=r"unknown kind of file; expected \.jsonl, .*or a folder"):
        trope.open(tmp_path / "x.xlsx")


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.csv", "pairs.parquet", "x.tar", "x.tsv"])
def test_empty_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    with pytest.raises(DataError, match=f"{name}: the file is empty"):
        trope.open(tmp_path / name)


def test_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.jsonl")
    with pytest.raises(DataError, match="the file is empty"):
        trope.open(tmp_path / "x.jsonl")


def test_several_tables(tmp_path: Path) -> None:
    (tmp_path / "pairs.jsonl").write_text(ROW)
    (tmp_path / "pairs.csv").write_text("text\na\n")
    with pytest.raises(
        UsageError, match=r"holds pairs\.jsonl and pairs\.csv; name the one to open"
    ):
        trope.open(tmp_path)
    assert len(trope.open(tmp_path / "pairs.csv")) == 1


@pytest.mark.parametrize("name", ["pairs.jsonl", "pairs.csv", "pairs.parquet", "pairs.tar"])
def test_no_permission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """Root may read everything, so the system's answer is played."""
    (tmp_path / name).write_text(ROW)
    real = Path.open

    def refuse(path: Path, *arguments: object, **options: object) -> object:
        if path.name == name:
            raise PermissionError(13, "Permission denied", str(path))
        return real(path, *arguments, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(UsageError, match=rf"{name}: no permission to read it") as caught:
        trope.open(tmp_path)
    assert caught.value.exit_code == 2


RUBBISH = [bytes(range(256)) * 9, b"\x00" * 3_000, b"\xff" * 999, b"{" * 999, b'"' * 999]


@pytest.mark.parametrize("name", ["x.jsonl", "x.csv", "x.tsv", "x.parquet", "x.tar"])
@pytest.mark.parametrize("content", RUBBISH, ids=lambda content: repr(content[:2]))
def test_rubbish_under_every_name(tmp_path: Path, name: str, content: bytes) -> None:
    """Never a traceback: whatever the content, one line that names the file."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError) as caught:
        trope.open(tmp_path / name)
    assert str(caught.value).startswith(str(tmp_path / name))
    assert "\n" not in str(caught.value)
    with suppress(DataError):  # or every line of it is set aside
        assert trope.open(tmp_path / name, collect=True).rejected


def test_does_not_hide_the_builtin() -> None:
    assert open is builtins.open


ODD = [[" a", "a", "b "], ["e\u0301", "", None], ["  "], [], ["a", "\u00e9"]]


@pytest.mark.parametrize("ending", ["jsonl", "csv", "parquet", "tar"])
def test_labels_have_one_form_in_all_files(tmp_path: Path, ending: str) -> None:
    """Trimmed, composed and none blank; rows that were as they should be are told apart."""
    path = tmp_path / f"pairs.{ending}"
    rows = [{"id": str(i), "text": "t", "labels": some} for i, some in enumerate(ODD)]
    if ending == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    elif ending == "csv":
        with path.open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["id", "text", "labels"])
            writer.writerows([row["id"], "t", json.dumps(row["labels"])] for row in rows)
    elif ending == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        with tarfile.open(path, "w") as tar:
            for row in rows:
                content = json.dumps(row).encode()
                member = tarfile.TarInfo(f"{row['id']}.json")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))
    pairs = trope.open(path)
    assert [p.labels for p in pairs] == [("a", "b"), ("é",), (), (), ("a", "é")]
    place = {"jsonl": "line 1", "csv": "line 2", "parquet": "row 1", "tar": "row 1"}[ending]
    told = [one for one in pairs.remarks if one.startswith("labels")]
    assert told == [
        f"labels: 3 were trimmed or composed (NFC) and 3 blank ones left out, first in {place}"
    ]


def test_labels_in_their_form_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "pairs.csv").write_text("text,labels\na,x | y\nb,\nc,x|x\n")
    pairs = trope.open(tmp_path)
    assert [p.labels for p in pairs] == [("x", "y"), (), ("x", "x")]
    assert pairs.remarks == ()
    (tmp_path / "pairs.csv").write_text("text,labels\na,x||y\n")
    assert trope.open(tmp_path).remarks == ("labels: 1 blank one left out, first in line 2",)

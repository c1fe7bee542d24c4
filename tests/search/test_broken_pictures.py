"""Pictures that cannot be used are told by row, place and file, whatever they are read from."""

from __future__ import annotations

import json
import tarfile
from collections.abc import Callable
from pathlib import Path

import orjson
import pyarrow as pa
import pytest

import trope
from pictures import jpeg
from trope.cli import main
from trope.index.job import build

PICTURES = {"a": jpeg((200, 30, 30)), "b": b"broken", "c": jpeg((30, 200, 30))}


def folder(home: Path) -> None:
    for name, content in PICTURES.items():
        (home / f"{name}.jpg").write_bytes(content)
        (home / f"{name}.txt").write_text("plum", encoding="utf-8")


def table(home: Path) -> None:
    (home / "images").mkdir()
    rows = []
    for name, content in PICTURES.items():
        (home / "images" / f"{name}.jpg").write_bytes(content)
        rows.append({"id": name, "image": f"images/{name}.jpg", "text": "plum"})
    (home / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def shards(home: Path) -> None:
    for number in range(2):
        with tarfile.open(home / f"{number}.tar", "w") as archive:
            for name, content in PICTURES.items():
                for suffix, data in ((".jpg", content if number else PICTURES["a"]), (".txt", b"")):
                    path = home / f"{name}{suffix}"
                    path.write_bytes(data or b"plum")
                    archive.add(path, f"{number}{name}{suffix}")
                    path.unlink()


def arrow(home: Path) -> None:
    """As `datasets` saves it, with the bytes of pictures in a column."""
    pictures = [{"bytes": content, "path": None} for content in PICTURES.values()]
    rows = pa.table({"id": [*PICTURES], "image": pictures, "text": ["plum"] * len(PICTURES)})
    with pa.ipc.new_stream(home / "data.arrow", rows.schema) as writer:
        writer.write_table(rows)
    (home / "state.json").write_bytes(orjson.dumps({"_data_files": [{"filename": "data.arrow"}]}))
    about = {"features": {"image": {"_type": "Image"}}}
    (home / "dataset_info.json").write_bytes(orjson.dumps(about))


SOURCES: dict[str, tuple[Callable[[Path], None], str]] = {
    "folder": (folder, "row 'b' (row 2), b.jpg: "),
    "table": (table, "row 'b' (line 2), images/b.jpg: "),
    "shards": (shards, "row '1b' (row 5), 1/1b.jpg: "),
    "arrow": (arrow, "row 'b' (row 2), row-1: "),
}


@pytest.mark.parametrize("source", SOURCES)
def test_a_row_is_told_by_its_id_and_its_file(pictured: Path, tmp_path: Path, source: str) -> None:
    write, wanted = SOURCES[source]
    (tmp_path / "data").mkdir()
    write(tmp_path / "data")
    done = build(pictured / "run", trope.open(tmp_path / "data"), tmp_path / "index")
    assert [str(row) for row in done.failed] == [f"{wanted}{done.failed[0].reason}"]
    assert done.failed[0].reason.startswith("cannot be decoded")


def test_the_command_says_so(
    pictured: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "data").mkdir()
    table(tmp_path / "data")
    (tmp_path / "data" / "images" / "c.jpg").unlink()
    arguments = ["--data", str(tmp_path / "data"), "--out", str(tmp_path / "index"), "--json"]
    with pytest.raises(SystemExit):
        main(["index", str(pictured / "run"), *arguments])
    told = capsys.readouterr()
    assert "not indexed: row 'b' (line 2), images/b.jpg: cannot be decoded (" in told.err
    assert "not indexed: row 'c' (line 3), images/c.jpg: No such file" in told.err
    first = orjson.loads(told.out)["failed"][0]
    assert first.pop("reason").startswith("cannot be decoded")
    assert first == {"row": "b", "place": "line 2", "image": "images/b.jpg"}

"""A folder of pictures with texts beside them, and folders that are something else."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

import trope
from trope.errors import DataError, UsageError


def texts(folder: Path, **contents: str | bytes) -> None:
    for name, content in contents.items():
        path = folder / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


@pytest.fixture
def data(tmp_path: Path, write_jpeg: Callable[..., Path]) -> Path:
    """Three pictures, two with a text."""
    for name in ("data/a.jpg", "data/b.PNG", "data/c.jpeg"):
        write_jpeg(name)
    texts(tmp_path / "data", a=" one \n", b="zwei")
    return tmp_path / "data"


def test_pairs_by_name(data: Path) -> None:
    pairs = trope.open(data)
    assert [(pair.id, pair.image, pair.texts) for pair in pairs] == [
        ("a", "a.jpg", ("one",)),
        ("b", "b.PNG", ("zwei",)),
        ("c", "c.jpeg", ()),
    ]
    assert pairs.remarks == ()
    assert pairs.images.read(0)[:2] == b"\xff\xd8"


def test_nested_and_split_folders(data: Path, write_jpeg: Callable[..., Path]) -> None:
    for name in ("train/x/1", "Validation/1", "test/1", "other/1", "train"):
        write_jpeg(f"data/{name}.jpg")
        texts(data, **{name: name})
    splits = {pair.id: pair.split for pair in trope.open(data)}
    assert splits == {
        "a": None,
        "b": None,
        "c": None,
        "train/x/1": "train",
        "Validation/1": "val",
        "test/1": "test",
        "other/1": None,
        "train": None,
    }


def test_same_stem(data: Path, write_jpeg: Callable[..., Path]) -> None:
    write_jpeg("data/a.png")
    pairs = trope.open(data)
    assert [(pair.id, pair.texts) for pair in pairs][:2] == [
        ("a.jpg", ("one",)),
        ("a.png", ("one",)),
    ]


def test_upper_case_ending_of_a_text(data: Path) -> None:
    (data / "c.TXT").write_text("drei")
    assert trope.open(data)[2].texts == ("drei",)


def test_texts_alone_are_told(data: Path) -> None:
    texts(data, readme="hello", z="alone")
    pairs = trope.open(data)
    assert len(pairs) == 3
    assert pairs.remarks == (
        "readme.txt: no picture has the same name; left out",
        "z.txt: no picture has the same name; left out",
    )


def test_other_files_are_counted(data: Path) -> None:
    for name in ("a.heic", "b.heic", "noending"):
        (data / name).write_bytes(b"x")
    assert trope.open(data).remarks == (
        "3 files of other kinds were left out: 2 .heic, 1 without an ending",
    )


def test_hidden_files(data: Path, write_jpeg: Callable[..., Path]) -> None:
    for name in (".x.jpg", ".git/x.jpg", "._a.jpg"):
        write_jpeg(f"data/{name}")
    assert len(trope.open(data)) == 3


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            b"caf\xe9",
            "c.txt: not UTF-8 text; looks like Windows-1252: save it as UTF-8 (unexpected",
        ),
        ("zwölf".encode("utf-16"), "c.txt: not UTF-8 text"),
    ],
)
def test_bad_texts(data: Path, content: bytes, words: str) -> None:
    texts(data, c=content)
    with pytest.raises(DataError) as caught:
        trope.open(data)
    assert str(caught.value).startswith(f"{data}: row 3: {words}")
    pairs = trope.open(data, collect=True)
    assert pairs.ids == ["a", "b"]
    assert [(row.line, row.raw) for row in pairs.rejected] == [(3, "c.jpeg")]


def test_text_that_is_no_file(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.mkfifo(data / "c.txt")
    assert "not a file" in trope.open(data, collect=True).rejected[0].reason
    (data / "c.txt").unlink()
    (data / "c.txt").symlink_to("nowhere")
    assert "No such file" in trope.open(data, collect=True).rejected[0].reason
    monkeypatch.setattr("trope.data.readers.folder.MAX_TEXT_BYTES", 3)
    assert any("larger than" in row.reason for row in trope.open(data, collect=True).rejected)


def test_text_survives(data: Path, script: str) -> None:
    texts(data, c=script)
    assert trope.open(data)[2].texts == (script.strip(),)
    texts(data, c=b"\xef\xbb\xbf" + script.encode())
    assert trope.open(data)[2].texts == (script.strip(),)


def test_names_in_any_script(data: Path, write_jpeg: Callable[..., Path]) -> None:
    for name in ("with space", "न्याय", "new\nline", "quote'\"", "a.b.c"):
        write_jpeg(f"data/{name}.jpg")
        texts(data, **{name: name})
        pair = next(pair for pair in trope.open(data) if pair.id == name)
        assert pair.image == f"{name}.jpg"
        assert pair.texts == (name.strip(),)


def test_names_that_are_no_text(data: Path, jpeg: Callable[..., bytes]) -> None:
    bad = os.fsencode(data) + b"/caf\xe9"
    for ending, content in ((b".jpg", jpeg()), (b".txt", b"words")):
        with open(bad + ending, "wb") as handle:  # noqa: PTH123 (a Path would do, bytes are plainer)
            handle.write(content)
    with open(os.fsencode(data) + b"/alone\xe9.txt", "wb"):  # noqa: PTH123
        pass
    with pytest.raises(DataError, match="'id': not UTF-8 text"):
        trope.open(data)
    pairs = trope.open(data, collect=True)
    assert pairs.ids == ["a", "b", "c"]
    (rejected,) = pairs.rejected
    assert "caf\\xe9.jpg" in rejected.raw
    assert "alone\\xe9.txt" in pairs.remarks[0]
    str(pairs.remarks).encode()


def test_linked_folders_are_not_entered(data: Path) -> None:
    (data / "loop").symlink_to(data)
    pairs = trope.open(data)
    assert len(pairs) == 3
    assert pairs.remarks == ("loop: a linked folder, not entered",)


def test_linked_pictures_are_read(data: Path) -> None:
    (data / "d.jpg").symlink_to("a.jpg")
    texts(data, d="four")
    pairs = trope.open(data)
    assert pairs.images.read(3) == pairs.images.read(0)


def test_no_permission(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (data / "locked").mkdir()
    scandir = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("locked"):
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    with pytest.raises(UsageError, match=r"data/locked: no permission to read it"):
        trope.open(data)


def test_nothing_to_pair(tmp_path: Path, write_jpeg: Callable[..., Path]) -> None:
    with pytest.raises(DataError, match=r"0 files looked at, 0 pictures"):
        trope.open(tmp_path)
    write_jpeg("1.jpg")
    texts(tmp_path, two="x")
    (tmp_path / "captions.csv").touch()
    with pytest.raises(DataError, match=r"3 files looked at, 1 picture; to open captions\.csv"):
        trope.open(tmp_path)


def test_many_unrelated_files(tmp_path: Path) -> None:
    for i in range(20_000):
        (tmp_path / f"{i}.dat").touch()
    before = time.process_time()
    with pytest.raises(DataError, match=r"20,000 files looked at, 0 pictures") as caught:
        trope.open(tmp_path)
    assert time.process_time() - before < 2
    assert "\n" not in str(caught.value)

"""What holds for every format: whole or not at all, taken up after a kill, refused in one line."""

from __future__ import annotations

import dataclasses
import json
import os
import pickle
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from trope.data.convert import FORMATS, arrays, convert, run
from trope.data.convert.layout import Contents, Features, Format, Found, Missing
from trope.errors import DataError, TropeError, UsageError


@pytest.fixture
def source(tmp_path: Path, note, jpeg) -> Path:
    folder = tmp_path / "f30k"
    note(folder / "results_20130124.token", *(f"{n}.jpg#0\tcaption {n}" for n in range(6)))
    jpeg(folder / "images", *(f"{n}.jpg" for n in range(5)))
    return folder


def partial(out: Path) -> Path:
    return out.with_name(f".{out.name}.partial")


def test_what_a_conversion_leaves(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    report = convert("flickr30k", source, out)
    assert sorted(path.name for path in out.iterdir()) == [
        "conversion.json",
        "images",
        "missing.jsonl",
        "pairs.jsonl",
    ]
    document = json.loads((out / "conversion.json").read_text())
    assert document.pop("provenance").keys() >= {"trope", "python", "date"}
    assert document == report.document()
    assert document["format"] == "flickr30k"
    assert document["source"] == str(source)
    assert (document["rows"], document["images"], document["texts"]) == (5, 5, 5)
    assert document["splits"] == {"none": 5}
    assert document["missing"] == {"items": 1, "reasons": {"no image file": 1}}
    assert not partial(out).exists()


def test_nothing_missing_leaves_no_list(source: Path, tmp_path: Path, jpeg) -> None:
    jpeg(source / "images", "5.jpg")
    convert("flickr30k", source, tmp_path / "out")
    assert not (tmp_path / "out/missing.jsonl").exists()


def test_pictures_are_linked_not_copied(source: Path, tmp_path: Path) -> None:
    convert("flickr30k", source, tmp_path / "out")
    assert (tmp_path / "out/images/0.jpg").samefile(source / "images/0.jpg")


def test_links_that_a_disk_refuses_become_copies(source: Path, tmp_path: Path, monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError("cross-device link")

    monkeypatch.setattr(os, "link", refuse)
    convert("flickr30k", source, tmp_path / "out")
    copy, original = tmp_path / "out/images/0.jpg", source / "images/0.jpg"
    assert not copy.samefile(original)
    assert copy.read_bytes() == original.read_bytes()


def test_what_exists_is_never_written_over(source: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "mine.txt").write_text("precious")
    with pytest.raises(UsageError, match="exists and is not empty"):
        convert("flickr30k", source, out)
    assert [path.name for path in out.iterdir()] == ["mine.txt"]
    assert not partial(out).exists()


def test_wrong_use_is_named(source: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no format 'flicker30k'; did you mean 'flickr30k'"):
        convert("flicker30k", source, tmp_path / "out")
    with pytest.raises(UsageError, match="no such folder"):
        convert("flickr30k", tmp_path / "nowhere", tmp_path / "out")
    with pytest.raises(UsageError, match="no such folder"):
        convert("flickr30k", source / "results_20130124.token", tmp_path / "out")
    with pytest.raises(UsageError, match="no option 'held_ot'; did you mean 'held_out'"):
        convert("coco", source, tmp_path / "out", held_ot="val")
    with pytest.raises(UsageError, match="expected one of test, val, found 'train'"):
        convert("coco", source, tmp_path / "out", sets=["held_out=train"])
    assert not (tmp_path / "out").exists()


def test_nothing_converted_is_an_error_that_leaves_nothing(source: Path, tmp_path: Path) -> None:
    for path in (source / "images").iterdir():
        path.unlink()
    problem = (
        r"none of 6 items could be converted \(no image file: 6\); the first was 0: images/0.jpg"
    )
    with pytest.raises(DataError, match=problem):
        convert("flickr30k", source, tmp_path / "out")
    (source / "results_20130124.token").write_text("")
    with pytest.raises(DataError, match="nothing to convert was found"):
        convert("flickr30k", source, tmp_path / "out")
    assert not (tmp_path / "out").exists()
    assert not partial(tmp_path / "out").exists()


KILLED = """
import os, signal, sys
from pathlib import Path
from trope.data.convert import convert
from trope.data.convert.pictures import Pictures

place, seen = Pictures.put, []
def put(*arguments):
    if len(seen) == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    seen.append(place(*arguments))
    return seen[-1]
Pictures.put = put
convert("flickr30k", sys.argv[1], sys.argv[2])
"""


def test_a_killed_conversion_is_taken_up(source: Path, tmp_path: Path, monkeypatch, rows) -> None:
    out = tmp_path / "out"
    command = [sys.executable, "-c", KILLED, str(source), str(out)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    assert subprocess.run(command, env=environment, check=False).returncode == -signal.SIGKILL
    assert not out.exists()
    left = sorted(path.name for path in partial(out).rglob("*.jpg"))
    assert left == ["0.jpg", "1.jpg", "2.jpg"]
    made = []
    link = os.link
    monkeypatch.setattr(os, "link", lambda a, b: (made.append(Path(b).name), link(a, b)))
    convert("flickr30k", source, out)
    assert made == ["3.jpg", "4.jpg"]
    assert list(rows(out)) == ["0", "1", "2", "3", "4"]
    assert not [
        path for path in out.rglob("*") if "partial" in path.name or path.name == "started.json"
    ]


def test_remains_of_another_conversion_do_not_slip_in(source: Path, tmp_path: Path, jpeg) -> None:
    out = tmp_path / "out"
    jpeg(partial(out) / "images", "0.jpg", "stranger.jpg")
    (partial(out) / "started.json").write_text("{}")
    (partial(out) / "missing.jsonl").write_text("{}")
    convert("flickr30k", source, out)
    assert (out / "images/0.jpg").samefile(source / "images/0.jpg")
    assert not (out / "images/stranger.jpg").exists()


def test_features_are_written_once(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    written = []

    def blocks():
        written.append(1)
        yield np.zeros((2, 3))

    def read(source: Path, settings: object) -> Contents:
        def items():
            yield Found({"id": "a", "text": "x", "image_feature": 0})
            if len(written) == 1 and not (tmp_path / "second").exists():
                (tmp_path / "second").touch()
                raise KeyboardInterrupt

        return Contents(items(), {"image": Features((2, 3), np.dtype(float), (), blocks)})

    layout = Format("about", "paper", "layout", "becomes", read)
    arguments = ("made-up", layout, layout.settings(), tmp_path / "source", tmp_path / "out")
    with pytest.raises(KeyboardInterrupt):
        run.run_conversion(*arguments)
    run.run_conversion(*arguments)
    assert written == [1]
    assert arrays.mapped(tmp_path / "out/features/image.npy").shape == (2, 3)


def test_an_unreadable_folder_is_one_line(source: Path, tmp_path: Path, monkeypatch) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied", str(source / "images"))

    broken = dataclasses.replace(FORMATS["flickr30k"], read=refuse)
    monkeypatch.setitem(FORMATS, "flickr30k", broken)
    with pytest.raises(TropeError, match="images: Permission denied"):
        convert("flickr30k", source, tmp_path / "out")


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_describes_itself(name: str) -> None:
    entry = FORMATS[name]
    assert all([entry.about, entry.paper, entry.becomes])
    assert "\n" not in entry.about + entry.paper + entry.becomes
    assert entry.layout.startswith("SOURCE/")
    assert max(map(len, entry.layout.splitlines())) <= 100
    assert entry.settings() == pickle.loads(pickle.dumps(entry.settings()))
    assert entry.read.__doc__


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_refuses_an_empty_folder_in_one_line(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises((UsageError, DataError), match="not found; looked for") as caught:
        convert(name, tmp_path / "empty", tmp_path / "out")
    assert str(tmp_path / "empty") in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_documented(name: str) -> None:
    page = Path(__file__).parents[3] / "docs/formats.md"
    text = page.read_text(encoding="utf-8")
    assert f"\n## {name}\n" in text
    section = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    assert f"trope convert {name} " in section
    for field in dataclasses.fields(FORMATS[name].settings):
        assert f"`{field.name}`" in section
    assert FORMATS[name].layout in section


def test_missing_is_plain(tmp_path: Path) -> None:
    item = Missing("a", "because", {"id": "a"}, "there")
    assert dataclasses.asdict(item) == {
        "id": "a",
        "reason": "because",
        "row": {"id": "a"},
        "detail": "there",
    }

"""Changes that meet each other, or what does not fit; what killed jobs leave."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import trope
from trope.errors import DataError, UsageError
from trope.index import building, encoding
from trope.index.job import add, build, remove
from trope.index.local import Local
from trope.index.model import MODEL
from trope.search import Index, open_index

SOON = 3  # seconds in which a job that does not wait is done


def rows(folder: Path, *lines: dict[str, object]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return folder


def said(index: Index, name: str) -> set[str | None]:
    hits = open_index(index.folder).search("snow", find="text", k=200)
    return {hit.text for hit in hits if hit.id == name}


def meeting(
    patch: pytest.MonkeyPatch, method: str, other: Callable[[], object]
) -> threading.Thread:
    """Another job, which starts just before this one writes."""
    plain, thread = getattr(Local, method), threading.Thread(target=other)

    def late(*given: Any, **more: Any) -> Any:
        patch.setattr(Local, method, plain)
        thread.start()
        thread.join(SOON)
        return plain(*given, **more)

    patch.setattr(Local, method, late)
    return thread


@pytest.mark.parametrize("first", ["add", "remove"])
def test_rows_of_two_writers_do_not_mix(
    index: Index, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str
) -> None:
    one = trope.open(rows(tmp_path / "one", {"id": "z", "text": "harp"}))
    two = trope.open(rows(tmp_path / "two", {"id": "z", "texts": ["snow", "fog"]}))
    add(index.folder, one)
    thread = meeting(monkeypatch, first, lambda: add(index.folder, two))
    if first == "add":
        add(index.folder, one)
    else:
        remove(index.folder, ["z"])
    thread.join()
    assert said(index, "z") == {"snow", "fog"}


def test_a_column_holds_the_same_of_pictures_and_of_texts(
    pictured: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows with only pictures first, then some with only texts."""
    shutil.copytree(pictured / "data", tmp_path / "data")
    shown = [{"id": f"p{i}", "image": f"{i}.png", "year": 2000 + i} for i in range(3)]
    index = trope.build_index(pictured / "run", rows(tmp_path / "data", *shown), tmp_path / "index")
    before = {path.name for path in index.folder.iterdir()}
    new = rows(tmp_path / "new", {"id": "t", "text": "rain", "year": "2020?"})
    with monkeypatch.context() as patch:
        patch.setattr(encoding, "_encoded", None)  # before anything is encoded
        with pytest.raises(DataError, match="column 'year': holds int64 and string"):
            index.add(new)
    with pytest.raises(DataError, match="column 'year': holds int64 and string"):
        _straight(index, new)
    assert {path.name for path in index.folder.iterdir()} == before
    assert [hit.id for hit in index.search("rain", where="year > 2001")] == ["p2"]
    assert index.remove(["p1"]) == 1


def test_rows_that_only_lines_name_replace_none_of_another_data_set(
    index: Index, tmp_path: Path
) -> None:
    one, two = (
        rows(tmp_path / name, *({"text": f"{name} {i}"} for i in range(2)))
        for name in ("one", "two")
    )
    index.add(one)
    held = open_index(index.folder).search("one", find="text", k=500)
    with pytest.raises(
        UsageError, match=r"no ids of their own, and 'row-1' would replace a row of"
    ):
        index.add(two)
    assert [hit.text for hit in open_index(index.folder).search("one", find="text", k=500)] == [
        hit.text for hit in held
    ]
    rows(one, {"text": "other"}, {"text": "one 1"})
    index.add(one)  # the same data set, changed
    assert said(index, "row-1") == {"other"}


def _straight(index: Index, data: Path) -> None:
    """Items put into the engine itself."""
    keys = ["text:0:t"]
    lines = index.engine.get(["image:p0"]).rows.drop_columns(["year"])
    lines = lines.append_column("year", [[json.loads((data / "pairs.jsonl").read_text())["year"]]])
    index.engine.add(keys, index.engine.get(["image:p0"]).vectors, lines)


def test_rows_that_are_all_replaced_may_hold_something_else(home: Path, tmp_path: Path) -> None:
    old = rows(tmp_path / "old", {"id": "a", "text": "plum", "year": 1})
    index = trope.build_index(home / "infonce", old, tmp_path / "index")
    index.add(rows(tmp_path / "new", {"id": "a", "text": "pear", "year": "one"}))
    (hit,) = index.search("pear", find="text", where="year = 'one'")
    assert hit.text == "pear"


def test_a_model_that_is_gone_is_told(index: Index, tmp_path: Path) -> None:
    (index.folder / MODEL).unlink()
    new = trope.open(rows(tmp_path / "new", {"id": "z", "text": "plum"}))
    for job in (
        lambda: open_index(index.folder).search("plum"),
        lambda: add(index.folder, new),
    ):
        with pytest.raises(DataError, match=r"model.safetensors: missing; build the index anew"):
            job()


def test_what_a_build_leaves_when_it_is_killed_at_the_end_goes(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    left, data = tmp_path / ".index.building", trope.open(home / "data")
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", _killed)
        with pytest.raises(KeyboardInterrupt):
            build(home / "infonce", data, tmp_path / "index")
    assert left.exists()
    with pytest.raises(UsageError, match="exists and is not empty"):
        build(home / "infonce", data, tmp_path / "index")
    assert not left.exists()
    left.mkdir()
    remove(tmp_path / "index", ["r1"])
    assert not left.exists()


def _killed(folder: Path, **_: object) -> None:
    if folder.name.endswith(".building"):
        raise KeyboardInterrupt


def test_a_build_that_waited_in_vain_leaves_nothing(index: Index) -> None:
    home = building.building(index.folder)
    home.mkdir()
    with pytest.raises(UsageError, match="exists and is not empty"):
        building.refuse_made(index.folder, home)
    assert not home.exists()

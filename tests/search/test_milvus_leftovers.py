"""Builds that were killed leave nothing on a server once the next one is done, and take nothing."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import trope
from trope.index import IndexSettings
from trope.index.building import building
from trope.index.folder import read_state, write_state
from trope.index.job import add, build
from trope.index.milvus import connected
from trope.search import open_index

pytestmark = pytest.mark.xdist_group("milvus")

KILLED = """
import os, sys
from pathlib import Path
import pymilvus, trope
from trope.index import IndexSettings
from trope.index.job import build

def ends(*_, **__):
    os._exit(9)

def renamed(path, target):
    return ends() if path.name.endswith(".partial") else os.rename(path, target)

run, data, out, uri, when = sys.argv[1:]
if when == "making":
    pymilvus.MilvusClient.create_partition = ends
elif when == "filling":
    pymilvus.MilvusClient.insert = ends
else:
    Path.rename = renamed
build(Path(run), trope.open(Path(data)), Path(out), IndexSettings(engine="milvus", uri=uri))
"""


def few(folder: Path, *words: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    lines = [json.dumps({"id": word, "text": word}) for word in words]
    (folder / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def killed(run: Path, data: Path, out: Path, uri: str, when: str) -> None:
    """A build that ends where nobody can tidy up."""
    command = [sys.executable, "-c", KILLED, run, data, out, uri, when]
    paths = os.pathsep.join(filter(None, sys.path))
    environment = os.environ | {"PYTHONPATH": paths}
    assert subprocess.run(list(map(str, command)), env=environment, check=False).returncode == 9
    assert not out.exists()


@pytest.fixture
def client(milvus: IndexSettings) -> Iterator[Any]:
    """With a collection that looks like ours, of somebody else."""
    client = connected(milvus.uri)
    client.create_collection("trope_0123456789abcdef", dimension=4)
    yield client
    client.close()


def there(client: Any) -> set[str]:
    return set(client.list_collections()) - {"trope_0123456789abcdef"}


def of(index: Path) -> str:
    return read_state(index).remote["collection"]


@pytest.mark.parametrize("when", ["making", "filling", "appearing"])
def test_the_next_build_takes_away_what_a_killed_one_left(
    home: Path, tmp_path: Path, milvus: IndexSettings, client: Any, when: str
) -> None:
    data = trope.open(few(tmp_path / "data", "plum", "snow"))
    other, out = tmp_path / "other", tmp_path / "index"
    build(home / "infonce", data, other, milvus)
    killed(home / "infonce", tmp_path / "data", out, milvus.uri, when)
    assert len(there(client)) == 2
    build(home / "infonce", data, out, milvus)
    assert there(client) == {of(out), of(other)}
    assert client.has_collection("trope_0123456789abcdef")
    assert not building(out).exists()


def test_a_build_for_another_engine_takes_it_away_too(
    home: Path, tmp_path: Path, milvus: IndexSettings, client: Any
) -> None:
    data = few(tmp_path / "data", "plum", "snow")
    killed(home / "infonce", data, tmp_path / "index", milvus.uri, "filling")
    assert len(there(client)) == 1
    build(home / "infonce", trope.open(data), tmp_path / "index")
    assert there(client) == set()


def test_rows_added_to_an_index_in_its_place_take_it_away_too(
    home: Path, tmp_path: Path, milvus: IndexSettings, client: Any
) -> None:
    data, index = few(tmp_path / "data", "plum", "snow"), tmp_path / "index"
    build(home / "infonce", trope.open(data), tmp_path / "other", milvus)
    killed(home / "infonce", data, index, milvus.uri, "filling")
    (tmp_path / "other").rename(index)
    add(index, trope.open(few(tmp_path / "more", "rain")))
    assert there(client) == {of(index)}
    assert not building(index).exists()


def test_an_index_that_was_moved_meanwhile_keeps_its_collection(
    home: Path, tmp_path: Path, milvus: IndexSettings, client: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The folder in which it was made is still there, but it had appeared."""
    data, out = trope.open(few(tmp_path / "data", "plum", "snow")), tmp_path / "index"
    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", _ends)
        with pytest.raises(KeyboardInterrupt):
            build(home / "infonce", data, out, milvus)
    assert building(out).exists()
    out.rename(tmp_path / "moved")
    build(home / "infonce", data, out, milvus)
    assert there(client) == {of(out), of(tmp_path / "moved")}
    assert len(open_index(tmp_path / "moved")) == 2


def test_a_server_that_is_gone_is_told_and_stops_nothing(
    home: Path, tmp_path: Path, milvus: IndexSettings, capsys: pytest.CaptureFixture[str]
) -> None:
    data, out = few(tmp_path / "data", "plum", "snow"), tmp_path / "index"
    killed(home / "infonce", data, out, milvus.uri, "filling")
    begun = building(out) / "index"
    elsewhere = replace(milvus, uri="http://127.0.0.1:1")
    write_state(begun, replace(read_state(begun), settings=elsewhere))
    build(home / "infonce", trope.open(data), out)
    assert "which was begun and never used, stays there (milvus at" in capsys.readouterr().err
    assert len(open_index(out)) == 2


def _ends(*_: object, **__: object) -> None:
    raise KeyboardInterrupt

"""Pictures, thumbnails and maps of one state of an index are never shown for another."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from starlette.testclient import TestClient

import trope
from trope.index.folder import read_state
from trope.search import Index
from trope.web import points
from trope.web.app import application
from trope.web.service import Places, Service
from trope.web.settings import ServeSettings

API = "/api/v1"
BLUE = (0, 0, 250)


@contextmanager
def client_of(index: Path, marks: Path) -> Iterator[TestClient]:
    service = Service(Places((index,), marks=marks))
    with TestClient(application(service, ServeSettings(rate=0.0)), "http://127.0.0.1") as client:
        yield client
    service.close()


def built(home: Path, folder: Path, color: tuple[int, int, int] | None = None) -> Path:
    """An index at always the same place, of the same rows; with pictures of one color."""
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(home / "data", folder / "data")
    for path in folder.glob("data/*.png") if color else ():
        Image.new("RGB", (40, 30), color).save(path)
    trope.build_index(home / "infonce", folder / "data", folder / "index")
    return folder / "index"


def shown(client: TestClient) -> tuple[str, np.ndarray]:
    """The URL of a picture, and its first pixel."""
    found = client.get(f"{API}/items/image:r2").json()["found"]["picture"]["small"]
    answer = client.get(found)
    assert answer.headers["cache-control"] == "private, max-age=86400"
    return found, np.asarray(Image.open(io.BytesIO(answer.content)))[0, 0].astype(int)


def test_an_index_built_anew_shows_its_own_pictures(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"  # as where an index cannot be written: only its path names the folder
    monkeypatch.setattr("trope.web.service.kept_beside", lambda _, name: kept / name)
    seen = []
    for color in (None, BLUE):
        index = built(home, tmp_path / "place", color)
        assert read_state(index).number == 1
        with client_of(index, tmp_path / "marks") as client:
            seen.append(shown(client))
    assert seen[0][0] != seen[1][0]
    assert np.abs(seen[1][1] - BLUE).max() < 12 < np.abs(seen[0][1] - BLUE).max()


def test_a_picture_asked_for_without_its_version_is_asked_for_again(client: TestClient) -> None:
    for version in ({}, {"v": "1"}):
        found = client.get(f"{API}/pictures/image:r2", params=version)
        assert found.headers["cache-control"] == "private, no-cache"
        assert found.headers["etag"]


def test_the_version_is_that_of_what_was_opened(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    index = built(home, tmp_path / "place")
    before = read_state(index).digest
    real = Index

    def then_changed(folder: Path) -> Index:
        made = real(folder)
        trope.open_index(folder).remove(["r2"])
        return made

    monkeypatch.setattr("trope.web.collection.Index", then_changed)
    service = Service(Places((index,), marks=tmp_path / "marks"))
    assert (service.version(), service.about()[0].state) == (before, 1)
    assert read_state(index).digest != before
    service.close()


def test_maps_of_other_states_go(tmp_path: Path) -> None:
    old, new = tmp_path / "map-1.arrow", tmp_path / "map-2.arrow"
    for path in (old, new):
        points._write(path, ["image:a"], np.zeros((1, 2), np.float32))
    (tmp_path / "marks.jsonl").write_text(json.dumps({}), encoding="utf-8")
    points._only(new)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["map-2.arrow", "marks.jsonl"]

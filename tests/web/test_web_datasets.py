"""Data sets that have changed since they were indexed, or were moved."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from PIL import Image
from starlette.testclient import TestClient
from web_samples import write

import trope
from trope.cli import main
from trope.errors import UsageError
from trope.index.items import DIGEST
from trope.search import Index
from trope.web.app import application
from trope.web.service import Places, Service
from trope.web.settings import ServeSettings

PICTURE = "/api/v1/pictures/image:r5?size=256"
NOTE = "Some pictures are not there as they were indexed"


@pytest.fixture
def place(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a data set and an index of it."""
    monkeypatch.setenv("TROPE_CACHE", str(home / "cache"))
    shutil.copytree(home / "data", tmp_path / "data")
    trope.build_index(home / "infonce", tmp_path / "data", tmp_path / "index")
    return tmp_path


@contextmanager
def opened(place: Path, *data: Path, more: tuple[Path, ...] = ()) -> Iterator[TestClient]:
    service = Service(Places((place / "index", *more), marks=place / "marks", data=data))
    try:
        with TestClient(application(service, ServeSettings(rate=0.0)), "http://127.0.0.1") as made:
            made.app_state["problems"] = service.warm()
            yield made
    finally:
        service.close()


def problems(client: TestClient) -> list[str]:
    found: list[str] = client.app_state["problems"]
    return found


def repaint(folder: Path, *names: str) -> None:
    for name in names:
        Image.new("RGB", (40, 30), (1, 2, 3)).save(folder / name)


def test_an_index_knows_its_pictures(place: Path) -> None:
    rows = Index(place / "index").engine.get(["image:r5", "text:0:r5"]).rows
    known, none = rows.column(DIGEST).to_pylist()
    assert len(known) == 32
    assert none is None


def test_pictures_as_they_were_are_shown_without_a_word(place: Path) -> None:
    with opened(place) as client:
        assert problems(client) == []
        assert client.get(PICTURE).status_code == 200
        assert NOTE not in client.get("/").text


def test_other_pictures_in_the_same_place_are_not_shown(place: Path) -> None:
    repaint(place / "data", *(f"{row}.png" for row in range(48)))
    with opened(place) as client:
        (told,) = problems(client)
        assert "32 of 32 that were looked at are not there as they were indexed" in told
        refused = client.get(PICTURE)
        assert refused.status_code == 404
        assert "has changed since it was indexed" in refused.json()["error"]
        assert NOTE in client.get("/?q=rain").text


def test_one_picture_that_has_changed_is_told_once_it_is_met(place: Path) -> None:
    with opened(place) as client:
        repaint(place / "data", "5.png")
        assert NOTE not in client.get("/").text
        assert client.get(PICTURE).status_code == 404
        assert client.get(PICTURE.replace("r5", "r6")).status_code == 200
        assert NOTE in client.get("/").text


def test_an_index_that_does_not_know_its_pictures_shows_them(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repaint(place / "data", "5.png")
    monkeypatch.setattr("trope.web.datasets.DIGEST", "trope.nothing")  # as older ones
    with opened(place) as client:
        assert problems(client) == []
        assert client.get(PICTURE).status_code == 200


def test_a_moved_data_set_is_found_where_it_is_named(place: Path) -> None:
    (place / "data").rename(place / "elsewhere")
    with opened(place) as client:
        assert len(problems(client)) == 1
        assert client.get(PICTURE).status_code == 422
    with opened(place, place / "elsewhere") as client:
        assert problems(client) == []
        assert client.get(PICTURE).status_code == 200
        assert client.get("/item/image:r5").text.count('width="40"') > 0  # measured there too


def test_each_index_takes_the_data_that_is_its_own(place: Path, home: Path) -> None:
    write(place / "late", 8)
    rows = (place / "late" / "pairs.jsonl").read_text(encoding="utf-8").replace('"r', '"late')
    (place / "late" / "pairs.jsonl").write_text(rows, encoding="utf-8")
    repaint(place / "late", "0.png", "1.png")
    other = trope.build_index(home / "infonce", place / "late", place / "second")
    shutil.move(place / "data", place / "a")
    shutil.move(place / "late", place / "b")
    with opened(place, place / "b", place / "a", more=(other.folder,)) as client:
        assert problems(client) == []
        assert client.get(f"{PICTURE}&index=0").status_code == 200
        late = "/api/v1/pictures/image:late1?size=256&index=1"
        assert client.get(late).status_code == 200


def test_other_data_is_refused_in_one_line(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    shutil.copytree(place / "data", place / "other")
    repaint(place / "other", *(f"{row}.png" for row in range(48)))
    with pytest.raises(UsageError, match=r"--data .*other.*: has other pictures than those"):
        Service(Places((place / "index",), data=(place / "other",)))
    with pytest.raises(SystemExit) as ended:
        main(["serve", str(place / "index"), "--port", "0", "--data", str(place / "other")])
    assert ended.value.code == UsageError.exit_code
    assert capsys.readouterr().err.count("\n") == 1
    with pytest.raises(UsageError, match="nowhere"):
        Service(Places((place / "index",), data=(place / "nowhere",)))

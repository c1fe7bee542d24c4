"""What others write to an index while it is served is seen, and what they remove is gone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from web_samples import write

import trope
from trope.web import current
from trope.web.app import application
from trope.web.service import Places, Service
from trope.web.settings import ServeSettings

API = "/api/v1"


@pytest.fixture
def index(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> trope.Index:
    monkeypatch.setenv("TROPE_CACHE", str(home / "cache"))
    monkeypatch.setattr(current, "EVERY", 0.0)
    return trope.build_index(home / "infonce", home / "data", tmp_path / "index")


@pytest.fixture
def served(index: trope.Index, tmp_path: Path) -> Iterator[tuple[Service, TestClient]]:
    service = Service(Places((index.folder,), marks=tmp_path / "marks.jsonl"))
    with TestClient(application(service, ServeSettings(rate=0.0)), "http://127.0.0.1") as client:
        yield service, client
    service.close()


def total(client: TestClient) -> int:
    return int(client.get(f"{API}/search", params={"q": "apple"}).json()["total"])


def test_removed_rows_are_gone_and_new_ones_come(
    index: trope.Index, served: tuple[Service, TestClient], tmp_path: Path
) -> None:
    service, client = served
    before, model = total(client), service.collections[0].embedder
    assert client.get(f"{API}/items/image:r2").status_code == 200
    index.remove(["r2"])
    assert client.get(f"{API}/items/image:r2").status_code == 404
    assert total(client) == before - 1
    lines = (write(tmp_path / "more") / "pairs.jsonl").read_text(encoding="utf-8").splitlines()
    row = next(line for line in lines if '"r2"' in line).replace('"r2"', '"fresh"')
    (tmp_path / "more" / "pairs.jsonl").write_text(row, encoding="utf-8")
    index.add(tmp_path / "more")
    assert client.get(f"{API}/items/image:fresh").status_code == 200
    assert total(client) == before
    assert service.collections[0].embedder is model  # loaded once


def test_what_cannot_be_opened_any_more_is_served_as_it_was(
    index: trope.Index, served: tuple[Service, TestClient]
) -> None:
    _, client = served
    before = total(client)
    (index.folder / "index.json").write_text("{", encoding="utf-8")
    assert total(client) == before
    (index.folder / "index.json").unlink()
    assert total(client) == before


def test_a_removed_index_is_told_and_not_made_anew(index: trope.Index, tmp_path: Path) -> None:
    service = Service(Places((index.folder,)))
    kept = tmp_path / "kept"
    with TestClient(application(service, ServeSettings(rate=0.0)), "http://127.0.0.1") as client:
        assert client.get("/healthz").status_code == 200
        index.folder.rename(kept)
        told = client.get("/healthz")
        assert (told.status_code, told.json()) == (
            503,
            {"error": "removed while it is served: index"},
        )
        found = client.get(f"{API}/search", params={"q": "apple"}).json()
        assert found["hits"]
        assert "removed" in found["remarks"][0]
        assert "nothing can be marked" in client.get("/").text
        mark = client.put(f"{API}/marks/image:r9", json={"verdict": "keep"})
        assert (mark.status_code, "was removed" in mark.json()["error"]) == (503, True)
        assert client.get(f"{API}/map").status_code == 503
        assert client.get(f"{API}/pictures/image:r9").status_code == 200
        assert not index.folder.exists()
        kept.rename(index.folder)
        assert client.get("/healthz").status_code == 200
        assert client.put(f"{API}/marks/image:r9", json={"verdict": "keep"}).status_code == 200
        assert (index.folder / "web" / "marks.jsonl").exists()
    service.close()


def test_the_state_is_looked_at_once_in_a_while(
    index: trope.Index, served: tuple[Service, TestClient], monkeypatch: pytest.MonkeyPatch
) -> None:
    service, client = served
    looks = []
    known = current.read_state
    monkeypatch.setattr(current, "read_state", lambda folder: looks.append(1) or known(folder))
    monkeypatch.setattr(current, "EVERY", 3600.0)
    index.remove(["r2"])
    assert client.get(f"{API}/items/image:r2").status_code == 200
    assert not looks
    opened = service.collections[0]
    assert service.collections[0] is opened

"""The page over an index on a Milvus server answers as it does over one on disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

import trope
from trope.index import IndexSettings
from trope.index.milvus import Milvus
from trope.web import facets, points
from trope.web.app import application
from trope.web.service import Places, Service
from trope.web.settings import ServeSettings

pytestmark = pytest.mark.xdist_group("milvus")

API = "/api/v1"
LOCAL, REMOTE = {"index": 0}, {"index": 1}
NARROW = [{"f": "section:odd"}, {"f": "labels:topic1"}, {"where": "year >= 2010 and color = true"}]


@pytest.fixture
def both(
    home: Path, milvus: IndexSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[TestClient]:
    """An index on disk and one of the same items on the server."""
    monkeypatch.setenv("TROPE_CACHE", str(home / "cache"))
    folder = tmp_path / "remote"
    index = trope.build_index(
        home / "infonce", home / "data", folder, engine="milvus", uri=milvus.uri
    )
    index.engine.close()
    service = Service(Places((home / "infonce-index", folder), marks=tmp_path / "marks.jsonl"))
    with TestClient(application(service, ServeSettings(rate=0.0)), "http://127.0.0.1") as client:
        yield client
    service.close()


def answer(client: TestClient, path: str, **asked: Any) -> Any:
    found = client.get(f"{API}/{path}", params=asked)
    assert found.status_code == 200, found.text
    return found.json()


def keys(hits: list[dict[str, Any]]) -> list[str]:
    return [hit["key"] for hit in hits]


def test_a_page_over_a_server(
    both: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One server, one index, one test: making them takes most of the time."""
    _searches(both)
    _filters(both)
    _opens(both)
    _browses(both)
    _pages(both)
    _draws(tmp_path / "remote", monkeypatch)


def _searches(client: TestClient) -> None:
    for find in ("image", "text"):
        here, there = (
            answer(client, "search", q="rain snow", find=find, k=20, **index)
            for index in (LOCAL, REMOTE)
        )
        assert keys(there["hits"]) == keys(here["hits"])
        scores = [[hit["score"] for hit in one["hits"]] for one in (here, there)]
        assert scores[1] == pytest.approx(scores[0], abs=1e-5)
        assert there["total"] == here["total"]


def _filters(client: TestClient) -> None:
    for narrow in NARROW:
        here, there = (
            answer(client, "search", q="apple", k=40, **narrow, **index)
            for index in (LOCAL, REMOTE)
        )
        assert keys(there["hits"]) == keys(here["hits"]) != []
    known = [answer(client, "facets", **index) for index in (LOCAL, REMOTE)]
    assert known[1]["columns"] == known[0]["columns"]
    refused = client.get(f"{API}/search", params={"where": "yeer = 3", **REMOTE})
    assert (refused.status_code, "did you mean 'year'" in refused.text) == (400, True)


def _opens(client: TestClient) -> None:
    for row in ("r4", "r5", "told"):
        here, there = (answer(client, f"items/text:0:{row}", **index) for index in (LOCAL, REMOTE))
        assert there["texts"] == here["texts"]
        assert there["found"]["columns"] == here["found"]["columns"]
        assert keys(there["same_meaning"]) == keys(here["same_meaning"])
    shown = client.get(f"{API}/pictures/image:r5", params={"size": 256, **REMOTE})
    assert shown.headers["content-type"] == "image/jpeg"
    assert client.get(f"{API}/items/image:nobody", params=REMOTE).status_code == 404


def _browses(client: TestClient) -> None:
    pages = [answer(client, "search", k=20, page=page, **REMOTE) for page in (1, 2, 3)]
    seen = [key for page in pages for key in keys(page["hits"])]
    assert len(set(seen)) == len(seen) == 48
    assert [page["more"] for page in pages] == [True, True, False]
    for narrow in NARROW:
        here, there = (
            answer(client, "search", k=60, **narrow, **index) for index in (LOCAL, REMOTE)
        )
        assert sorted(keys(there["hits"])) == sorted(keys(here["hits"])) != []


def _pages(client: TestClient) -> None:
    for path in ("/?index=1", "/?q=rain&index=1", "/item/image:r5?index=1", "/compare?q=rain"):
        found = client.get(path)
        assert found.status_code == 200, path
    assert "<b>12</b> of 12 are found by both" in client.get("/compare?q=rain").text


def _draws(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(facets, "SAMPLE", 30)
    monkeypatch.setattr(points, "MOST", 30)
    fetched: list[str] = []
    real = Milvus.find
    monkeypatch.setattr(Milvus, "find", lambda *given: _noted(fetched, real(*given)))
    with closing(trope.open_index(folder).engine) as engine:
        found = facets.facets(engine)
        assert found.sampled
        assert len(set(fetched)) == len(fetched) == 29  # of 48 pictures 9, of 97 texts 20
        first = list(fetched)
        assert points._sampled(engine)[0] == first == fetched[29:]
        assert {key.partition(":")[0] for key in first} == {"image", "text"}


def _noted(fetched: list[str], keys: list[str]) -> list[str]:
    fetched += keys
    return keys

"""Models that compare pictures with texts themselves, on the page and in its API."""

from __future__ import annotations

from pathlib import Path

import pytest
from starlette.testclient import TestClient
from web_samples import QUICK

import trope
from trope.training import train
from trope.web.app import application
from trope.web.service import Places, Service
from trope.web.settings import ServeSettings


def client_of(recipe: str, home: Path, tmp_path: Path) -> tuple[TestClient, trope.Index]:
    sets = [*QUICK, "image.grid=2", "training.epochs=3"]
    train(recipe, home / "data", tmp_path / "run", sets=sets, quiet=True)
    index = trope.build_index(tmp_path / "run", home / "data", tmp_path / "index")
    service = Service(Places((tmp_path / "index",), marks=tmp_path / "marks.jsonl"))
    app = application(service, ServeSettings(rate=0.0))
    return TestClient(app, "http://127.0.0.1", raise_server_exceptions=False), index


@pytest.mark.parametrize("recipe", ["pcme", "sgr"])
def test_the_page_ranks_as_the_command_does(
    recipe: str, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TROPE_CACHE", str(home / "cache"))
    client, index = client_of(recipe, home, tmp_path)
    expected = index.search("red dog", k=6)
    for _ in range(2):  # the second time the question is remembered
        answer = client.get("/api/v1/search", params={"q": "red dog", "k": 6}).json()
        assert [hit["id"] for hit in answer["hits"]] == [hit.id for hit in expected]
        scores = [hit["score"] for hit in answer["hits"]]
        assert scores == pytest.approx([hit.score for hit in expected], abs=1e-5)
        assert answer["ranked_by"] == expected.ranked_by != "cosine"
        assert all(-1 <= hit["cosine"] <= 1 for hit in answer["hits"])
    first = answer["hits"][0]
    page = client.get(f"/item/{first['key']}", params={"q": "red dog"}).text
    if recipe == "pcme":
        assert answer["spread"] == pytest.approx(expected.spread)
        assert 0 <= first["match_probability"] <= 1
        assert "They match with a probability of" in page
    else:
        assert answer["spread"] is first["match_probability"] is None
        assert "part by part" in page

"""The map of an index, and what `trope explain` found."""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path

import numpy as np
import pytest
from starlette.testclient import TestClient

from trope.errors import MissingExtra, UsageError
from trope.explain import explain
from trope.web import points, projection
from trope.web.app import application
from trope.web.asked import Asked
from trope.web.explained import explain_pages
from trope.web.points import Points
from trope.web.service import Places, Service
from trope.web.settings import ServeSettings

API = "/api/v1"
PATIENCE = 240  # seconds: the first projection of a machine compiles for long


def made(service: Service, index: int = 0) -> Points:
    """The map, waited for."""
    until = time.monotonic() + PATIENCE
    while (found := service.map(index)).state == "making" and time.monotonic() < until:
        time.sleep(0.2)
    return found


@pytest.fixture(scope="module")
def own(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of one's own, to write beside."""
    folder = tmp_path_factory.mktemp("own")
    shutil.copytree(home / "data", folder / "data")
    shutil.copytree(home / "infonce-index", folder / "index", ignore=lambda *_: ["web"])
    return folder / "index"


def test_a_map_is_made_once_and_kept(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    service = Service(Places((own,)))
    first = service.map(0)
    assert first.state == "making"
    assert "145 items" in first.message
    assert service.search(Asked(q=("rain",), k=3)).hits  # it is answered meanwhile
    found = made(service)
    service.close()
    assert found.state == "ready", found.message
    assert len(found.x) == len(found.y) == len(found.keys) == found.total == 145
    assert np.isfinite([*found.x, *found.y]).all()
    assert found.modality.count("image") == 48
    colors = {color.column: color for color in found.colors}
    assert colors["labels"].names[0] == "topic0"
    assert {len(color.values) for color in found.colors} == {145}
    assert (colors["year"].low, colors["year"].high) == (1990, 2047)
    assert not list((own / "web").glob(".*"))
    monkeypatch.setattr(points, "started", lambda *_: pytest.fail("made again"))
    again = Service(Places((own,)))
    assert again.map(0) == found
    again.close()


def test_what_is_near_stays_near() -> None:
    random = np.random.default_rng(0)
    centers = random.standard_normal((3, 16)).astype(np.float32) * 5
    vectors = np.repeat(centers, 30, axis=0) + 0.1 * random.standard_normal((90, 16))
    flat = projection.projected(vectors.astype(np.float32))
    groups = flat.reshape(3, 30, 2)
    within = np.linalg.norm(groups - groups.mean(axis=1, keepdims=True), axis=2).mean()
    between = np.linalg.norm(groups.mean(axis=1)[0] - groups.mean(axis=1)[1])
    assert between > 2 * within


@pytest.mark.parametrize("count", [1, 2, 3, 10])
def test_few_points_have_a_map_too(count: int) -> None:
    flat = projection.projected(np.eye(count, 5, dtype=np.float32))
    assert flat.shape == (count, 2)
    assert np.isfinite(flat).all()


def test_many_items_are_sampled_and_said_so(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(points, "MOST", 10)
    for path in (own / "web").glob("map*"):
        path.unlink()
    service = Service(Places((own,)))
    found = made(service)
    service.close()
    assert len(found.keys) == 10
    assert found.message == "10 of 145 items, drawn by chance"
    for path in (own / "web").glob("map*"):
        path.unlink()


def test_a_map_being_made_is_ended_with_the_server(own: Path) -> None:
    for path in (own / "web").glob("map*"):
        path.unlink()
    service = Service(Places((own,)))
    service.map(0)
    started = time.monotonic()
    service.close()
    assert time.monotonic() - started < 20
    assert not list((own / "web").glob("*map*"))


def test_without_the_library_it_says_what_to_install(
    own: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projection, "find_spec", lambda _: None)
    service = Service(Places((own,)))
    with pytest.raises(MissingExtra, match=r"trope\[map\]"):
        service.map(0)
    with TestClient(application(service, ServeSettings()), "http://127.0.0.1") as client:
        assert client.get(f"{API}/map").status_code == 501
    service.close()


def test_explanations_come_with_their_rows(home: Path, tmp_path: Path) -> None:
    import trope

    explain(trope.open(home / "data"), tmp_path / "explained")
    places = Places((home / "infonce-index",), (tmp_path / "explained",), tmp_path / "marks")
    service = Service(places)
    with TestClient(application(service, ServeSettings()), "http://127.0.0.1") as client:
        (summary,) = client.get(f"{API}/explain").json()
        assert summary["kind"] == summary["name"] == "neighbors"
        found = client.get(f"{API}/explain/neighbors").json()
        known = json.loads((tmp_path / "explained" / "neighbors.json").read_bytes())
        assert found["document"] == known
        named = {pair["id"] for pair in known["pairs"]}
        assert named <= found["rows"].keys()
        assert all(row["picture"] for row in found["rows"].values() if row["id"] != "told")
        assert client.get(f"{API}/explain/nothing").status_code == 404
    service.close()


def test_rows_are_found_in_all_kinds_of_documents(tmp_path: Path) -> None:
    documents = {
        "weights": {"weights": [{"highest": ["a", "b"], "lowest": ["c"]}], "certainty": []},
        "wrong": {"pairs": [{"rank": 1, "id": "d"}]},
        "against": {"kept": {"image": {"by_one": [{"left": "e", "right": "f"}]}}},
    }
    for name, document in documents.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(document), encoding="utf-8")
    found = {page.kind: page.rows for page in explain_pages([tmp_path])}
    assert found == {"weights": ["a", "b", "c"], "wrong": ["d"], "against": ["e", "f"]}


def test_two_folders_of_a_kind_have_names_of_their_own(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "wrong.json").write_text("{}", encoding="utf-8")
    assert [page.name for page in explain_pages([tmp_path / "one", tmp_path / "two"])] == [
        "wrong",
        "wrong-2",
    ]
    with pytest.raises(UsageError, match="not written by"):
        explain_pages([tmp_path])


def test_long_lists_are_sent_a_page_at_a_time(home: Path, tmp_path: Path) -> None:
    pairs = [{"id": f"r{row}", "rank": row, "why": "so"} for row in range(230)]
    document = {"data": "all", "usable": 230, "pairs": pairs}
    (tmp_path / "wrong.json").write_text(json.dumps(document), encoding="utf-8")
    service = Service(Places((home / "infonce-index",), (tmp_path,), tmp_path / "marks"))
    page = service.explain_page("wrong")
    assert page.rows is page.rows  # the document is walked once
    with TestClient(application(service, ServeSettings()), "http://127.0.0.1") as client:
        found = [client.get(f"{API}/explain/wrong?page={n}").json() for n in (1, 2, 3)]
        assert client.get("/explain/wrong?from=24").status_code == 200
    service.close()
    assert [len(one["document"]["pairs"]) for one in found] == [100, 100, 30]
    assert [pair for one in found for pair in one["document"]["pairs"]] == pairs
    assert [one["more"] for one in found] == [True, True, False]
    assert {one["document"]["usable"] for one in found} == {230}
    assert "r5" in found[0]["rows"]
    assert not found[1]["rows"]

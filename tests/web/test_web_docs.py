"""The client of docs/api.md runs against a real server, and the page names every route."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from PIL import Image
from starlette.testclient import TestClient
from web_samples import served

from trope.web.service import Service
from trope.web.settings import ServeSettings

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text(encoding="utf-8")


def test_the_client_runs(
    service: Service, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "archive").mkdir()
    with Image.open(home / "data" / "7.png") as picture:
        picture.convert("RGB").save(tmp_path / "archive" / "7.jpg")
    monkeypatch.chdir(tmp_path)
    known = {"justice": "rain", "labels:court": "labels:topic3", "2010..2020": "2000..2047"}
    (example,) = re.findall(r"```python\n(.*?)```", PAGE, flags=re.S)
    for word, ours in known.items():
        example = example.replace(word, ours)
    names: dict[str, object] = {}
    with served(service, ServeSettings(port=0)) as chosen:
        example = example.replace(":8600", f":{chosen.port}")
        exec(compile(example, "api.md", "exec"), names)
    found, texts, item = names["found"], names["texts"], names["item"]
    assert len(found["hits"]) == 5  # type: ignore[index]
    assert {hit["labels"][0] for hit in found["hits"]} == {"topic3"}  # type: ignore[index]
    assert {hit["modality"] for hit in texts["hits"]} == {"text"}  # type: ignore[index]
    key = item["found"]["key"]  # type: ignore[index]
    assert service.marks().get(key) == "flag"
    service.mark(key, None)
    shutil.rmtree(tmp_path / "archive")


def test_every_route_and_parameter_is_named(client: TestClient) -> None:
    described = client.get("/api/v1/openapi.json").json()["paths"]
    for path, methods in described.items():
        for method in methods:
            assert f"`{method.upper()} {path.removeprefix('/api/v1')}" in PAGE, path
    for parameter in described["/api/v1/search"]["get"]["parameters"]:
        assert f"`{parameter['name']}`" in PAGE


def test_the_limits_are_those_of_the_code() -> None:
    from trope.web import decoding, server, thumbnails, uploads
    from trope.web.asked import DEEPEST, MOST
    from trope.web.facets import SAMPLE
    from trope.web.guards.leftovers import DROPPED
    from trope.web.points import MOST as POINTS

    usual = ServeSettings()
    told = [
        f"at most {uploads.BYTES >> 20} MiB and {decoding.PIXELS // 1_000_000} million pixels",
        f"{decoding.SECONDS:g} seconds and {decoding.MEMORY >> 30} GB",
        f"with a picture has at most {usual.body >> 20} MiB, any other {usual.json >> 10} KiB",
        f"all that are being sent {usual.held >> 20} MiB; each has {usual.seconds:g} seconds",
        f"up to {DROPPED >> 20} MiB are read and dropped before the answer",
        f"closed after {usual.idle:g} seconds",
        f"at most {usual.connections} connections, {usual.each} of one address",
        f"is read for {server.HEARD:g} seconds more",
        f"end within {usual.stopping:g} seconds",
        f"({usual.burst:g} at once)",
        f"up to {MOST}; up to {DEEPEST:,} in all",
        f"at most {POINTS:,} of them",
        f"up to {SAMPLE:,} items drawn by chance",
        f"(up to {thumbnails.ON_DISK >> 30} GiB)",
    ]
    for words in told:
        assert words in PAGE, words

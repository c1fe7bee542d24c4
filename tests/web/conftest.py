"""Two small indexes, a service over them, and clients; made once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.testclient import TestClient
from web_samples import QUICK, write

import trope
from trope.training import train
from trope.web.app import application
from trope.web.service import Places, Service
from trope.web.settings import ServeSettings

BASE = "http://127.0.0.1"


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data, a run of one sense and one of two, and an index of each."""
    home = tmp_path_factory.mktemp("web")
    write(home / "data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TROPE_CACHE", str(home / "cache"))
        for recipe in ("infonce", "pvse"):
            train(recipe, home / "data", home / recipe, sets=QUICK, quiet=True)
            trope.build_index(home / recipe, home / "data", home / f"{recipe}-index")
    return home


@pytest.fixture(scope="session")
def service(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """Both indexes; marks of their own."""
    marks = tmp_path_factory.mktemp("marks") / "marks.jsonl"
    made = Service(Places((home / "infonce-index", home / "pvse-index"), marks=marks))
    assert not made.warm()  # as `trope serve` does: the first request waits for no model
    yield made
    made.close()


@pytest.fixture
def client(service: Service) -> Iterator[TestClient]:
    """The whole application, without a limit of the rate."""
    app = application(service, ServeSettings(rate=0.0))
    with TestClient(app, BASE, raise_server_exceptions=False) as made:
        yield made

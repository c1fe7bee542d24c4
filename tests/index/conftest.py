"""Every engine behind the same tests."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import milvus_server
import pytest
from index_samples import LOCAL, made

from trope.index import Engine, IndexSettings
from trope.index.milvus import connected

Make = Callable[..., Engine]
MILVUS = pytest.param("milvus", marks=pytest.mark.xdist_group("milvus"))


@pytest.fixture(scope="session")
def milvus_uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One server for all tests; where it cannot start, a failure in CI and a skip elsewhere."""
    if why := milvus_server.missing():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"no Milvus server: {why}")
    with milvus_server.running(tmp_path_factory.mktemp("milvus")) as uri:
        yield uri


@pytest.fixture
def milvus(milvus_uri: str) -> Iterator[IndexSettings]:
    """Settings for the server; what a test leaves there goes with it."""
    yield IndexSettings(engine="milvus", uri=milvus_uri, links=16, asking=400)
    client = connected(milvus_uri)
    for name in client.list_collections():
        client.drop_collection(name)
    client.close()


@pytest.fixture(params=[*LOCAL, MILVUS])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Makes an empty index of the engine in question."""
    name = request.param
    settings = request.getfixturevalue("milvus") if name == "milvus" else LOCAL[name]

    def make(senses: int = 1, name: str = "index") -> Engine:
        return made(tmp_path / name, replace(settings), senses)

    return make

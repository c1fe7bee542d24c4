"""What every test gets: a cache of its own, and small pictures to write; a Milvus server."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import jaxtyping
import pytest
from hypothesis import HealthCheck, settings

import milvus_server
from pictures import jpeg
from scripts import SCRIPTS

if TYPE_CHECKING:
    from trope.index import IndexSettings

settings.register_profile(
    "trope",
    deadline=None,
    database=None,  # tests leave nothing behind
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("trope")


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist looks for groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share what takes a module long to make stay on one worker, which makes it once."""
    for item in items:
        known = getattr(item, "_fixtureinfo", None)
        shared = known and any(
            made[-1].scope == "module" for made in known.name2fixturedefs.values() if made
        )
        if shared and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.path.stem))


def pytest_collection_finish(session: pytest.Session) -> None:
    """A group that is silently not kept together costs minutes, and a server a worker."""
    if getattr(session.config.option, "loadgroup", False):
        marked = [item for item in session.items if item.get_closest_marker("xdist_group")]
        if any("@" not in item.nodeid for item in marked):
            raise pytest.UsageError("this pytest-xdist keeps no group together with this pytest")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's cache."""
    monkeypatch.setenv("TROPE_CACHE", str(tmp_path / ".trope-cache"))


@pytest.fixture(autouse=True)
def _same_numbers() -> None:
    """What a test draws without a generator of its own is the same in every run."""
    if torch := sys.modules.get("torch"):
        torch.manual_seed(0)


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test can see a power cut, and flushing each small file takes most of a test's time."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def untyped(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a user's machine, where nothing checks shapes and types before our own code does."""
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)


@pytest.fixture
def write_jpeg(tmp_path: Path) -> Callable[..., Path]:
    """Write a picture below the test's folder and return its path."""

    def write(name: str, color: tuple[int, int, int] = (200, 30, 30)) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(jpeg(color))
        return path

    return write


@pytest.fixture(name="jpeg")
def jpeg_fixture() -> Callable[..., bytes]:
    """The encoded picture of one color."""
    return jpeg


@pytest.fixture(params=SCRIPTS)
def script(request: pytest.FixtureRequest) -> str:
    """Texts in many scripts, with everything that usually gets lost."""
    return str(request.param)


@pytest.fixture(scope="session")
def milvus_uri(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """One server for all tests; where it cannot start, a failure in CI and a skip elsewhere."""
    if why := milvus_server.missing():
        (pytest.fail if os.environ.get("CI") else pytest.skip)(f"no Milvus server: {why}")
    with milvus_server.running(tmp_path_factory.mktemp("milvus"), hurried=True) as uri:
        yield uri


@pytest.fixture
def milvus(milvus_uri: str) -> Iterator[IndexSettings]:
    """Settings for the server; what a test leaves there goes with it."""
    from trope.index import IndexSettings
    from trope.index.milvus import connected

    yield IndexSettings(engine="milvus", uri=milvus_uri, links=16, asking=400)
    client = connected(milvus_uri)
    for name in client.list_collections():
        client.drop_collection(name)
    client.close()

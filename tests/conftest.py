"""What every test gets: a cache of its own, and small pictures to write."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import jaxtyping
import pytest
from hypothesis import HealthCheck, settings

from pictures import jpeg
from scripts import SCRIPTS

settings.register_profile(
    "trope",
    deadline=None,
    database=None,  # tests leave nothing behind
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("trope")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No test reads or writes the user's cache."""
    monkeypatch.setenv("TROPE_CACHE", str(tmp_path / ".trope-cache"))


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

"""Every engine behind the same tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from index_samples import LOCAL, made

from trope.index import Engine, walking
from trope.index.details import Kind

Make = Callable[..., Engine]
MILVUS = pytest.param("milvus", marks=pytest.mark.xdist_group("milvus"))


@pytest.fixture(params=[*LOCAL, MILVUS])
def make(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Makes an empty index of the engine in question."""
    name = request.param
    monkeypatch.setattr(walking, "EACH", 0)  # else so few items are compared, not walked to
    settings = request.getfixturevalue("milvus") if name == "milvus" else LOCAL[name]

    def make(senses: int = 1, name: str = "index", details: Kind = "") -> Engine:
        return made(tmp_path / name, replace(settings), senses, details)

    return make

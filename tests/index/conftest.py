"""Every engine behind the same tests."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from index_samples import LOCAL, made

from trope.index import Engine

Make = Callable[..., Engine]
MILVUS = pytest.param("milvus", marks=pytest.mark.xdist_group("milvus"))


@pytest.fixture(params=[*LOCAL, MILVUS])
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Make:
    """Makes an empty index of the engine in question."""
    name = request.param
    settings = request.getfixturevalue("milvus") if name == "milvus" else LOCAL[name]

    def make(senses: int = 1, name: str = "index") -> Engine:
        return made(tmp_path / name, replace(settings), senses)

    return make

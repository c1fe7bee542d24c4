"""Small runs and their indexes, made once."""

from __future__ import annotations

from pathlib import Path

import pytest
from search_samples import QUICK, write

import trope
from trope.search import Index
from trope.training import train


@pytest.fixture(scope="session")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data, and a run for each kind of model: one sense, and two; both take stored features."""
    home = tmp_path_factory.mktemp("search")
    write(home / "data")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TROPE_CACHE", str(home / "cache"))
        for recipe in ("infonce", "pvse"):
            sets = [*QUICK, "image.backbone=precomputed"]
            train(recipe, home / "data", home / recipe, sets=sets, quiet=True)
    return home


@pytest.fixture(scope="session")
def pictured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that takes pictures themselves."""
    home = tmp_path_factory.mktemp("pictured")
    write(home / "data", 40)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TROPE_CACHE", str(home / "cache"))
        train("infonce", home / "data", home / "run", sets=QUICK, quiet=True)
    return home


@pytest.fixture(scope="session")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs of models that compare pictures with texts themselves, and the data they know."""
    home = tmp_path_factory.mktemp("scored")
    write(home / "data", 40)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("TROPE_CACHE", str(home / "cache"))
        for recipe in ("pcme", "sgr"):
            sets = [*QUICK, "image.grid=2", "training.epochs=3"]
            train(recipe, home / "data", home / recipe, sets=sets, quiet=True)
    return home


@pytest.fixture
def index(home: Path, tmp_path: Path) -> Index:
    """An index of the data by the model with one sense."""
    return trope.build_index(home / "infonce", home / "data", tmp_path / "index")

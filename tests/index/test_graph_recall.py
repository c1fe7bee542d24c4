"""A graph with the settings that users get finds what a comparison with everything finds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from index_samples import lines, unit

from trope.index import Engine, IndexSettings, State, create, graphs, walking
from trope.index.items import image_key

COUNT, SIZE, K = 10_000, 48, 10
MANY = 128  # dimensions in which a direction by chance is far from everything


def test_the_default_graph_misses_next_to_nothing(tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    centers = unit(random, 30, SIZE)
    near = centers[random.integers(0, 30, COUNT + 50)] + 0.7 * unit(random, COUNT + 50, SIZE)
    vectors = near / np.linalg.norm(near, axis=1, keepdims=True)
    ids = [image_key(f"r{i}") for i in range(COUNT)]
    found = []
    for name, settings in (
        ("exact", IndexSettings(engine="exact")),
        ("graph", IndexSettings(flat=0)),
    ):
        (tmp_path / name).mkdir()
        engine = create(tmp_path / name, State(SIZE, settings=settings))
        engine.add(ids, vectors[:COUNT, None], lines(ids))
        found.append(engine.nearest(vectors[COUNT:, None], K, "image").ids)
        engine.close()
    shares = [len({*a} & {*b}) / K for a, b in zip(*found, strict=True)]
    assert np.mean(shares) > 0.97


@pytest.fixture(scope="module")
def scattered(tmp_path_factory: pytest.TempPathFactory) -> tuple[Engine, np.ndarray]:
    """A graph of vectors around centers, as users get it, and directions that lead to none."""
    random, folder = np.random.default_rng(0), tmp_path_factory.mktemp("scattered")
    centers = unit(random, COUNT // 100, MANY)
    vectors = centers[random.integers(0, len(centers), COUNT)] + 0.7 * unit(random, COUNT, MANY)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    ids = [image_key(f"r{i}") for i in range(COUNT)]
    engine = create(folder, State(MANY, settings=IndexSettings(flat=0)))
    engine.add(ids, vectors[:, None], lines(ids))
    return engine, unit(random, 200, 1, MANY)


def found_share(engine: Engine, queries: np.ndarray, k: int = K) -> float:
    """Of the nearest by comparing with everything."""
    nodes = engine.get([image_key(f"r{i}") for i in range(COUNT)]).vectors[:, 0]
    right = np.argsort(-(queries[:, 0] @ nodes.T), axis=1, kind="stable")[:, :k]
    names = engine.nearest(queries, k, "image").ids
    pairs = zip(names, right, strict=True)
    return float(np.mean([len({*a} & {image_key(f"r{i}") for i in b}) / k for a, b in pairs]))


@pytest.mark.parametrize("each", [walking.EACH, 4])
def test_what_is_far_from_everything_is_asked_more_widely(
    scattered: tuple[Engine, np.ndarray], monkeypatch: pytest.MonkeyPatch, each: int
) -> None:
    """By comparing with everything, or by the graph where that would take longer."""
    engine, far = scattered
    monkeypatch.setattr(walking, "EACH", each)
    assert found_share(engine, far) > 0.99
    whole = engine.nearest(far[:20], 150, "image").ids
    for k in (1, K, 60, 100):  # pages fit together
        assert (engine.nearest(far[:20], k, "image").ids == whole[:, :k]).all()


def test_what_is_near_to_something_is_asked_once(
    scattered: tuple[Engine, np.ndarray], monkeypatch: pytest.MonkeyPatch
) -> None:
    engine, _ = scattered
    asked: list[int] = []
    plain = graphs.parameters
    monkeypatch.setattr(graphs, "parameters", lambda count: asked.append(count) or plain(count))
    near = engine.get([image_key(f"r{i}") for i in range(50)]).vectors
    engine.nearest(near + 0.5 * unit(np.random.default_rng(1), 50, 1, MANY), K, "image")
    assert asked == [IndexSettings().asking]

"""A graph with the settings that users get finds what a comparison with everything finds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from index_samples import lines, unit

from trope.index import IndexSettings, State, create
from trope.index.items import image_key

COUNT, SIZE, K = 10_000, 48, 10


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

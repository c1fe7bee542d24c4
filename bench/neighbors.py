"""Nearest neighbors: exact against sorting the whole matrix, the graph against exact."""

from __future__ import annotations

import time
from statistics import median
from typing import Any

import numpy as np

from trope.neighbors import Search, neighbors, recall

SIZE, K = 200, 200
REPEATS = 3
SAMPLE = 1_000


def clustered(rows: int, seed: int = 0) -> np.ndarray:
    """Vectors around centers, 500 to each on average, as texts are around topics."""
    random = np.random.default_rng(seed)
    centers = random.standard_normal((max(1, rows // 500), SIZE), np.float32)
    vectors = random.standard_normal((rows, SIZE), np.float32)
    vectors *= np.float32(0.7)
    vectors += centers[random.integers(0, len(centers), rows)]
    return vectors


def searched(vectors: np.ndarray, method: Any) -> tuple[Any, float]:
    """The table of neighbors, and the seconds it took."""
    started = time.perf_counter()
    table = neighbors(vectors, Search(K, method=method))
    return table, time.perf_counter() - started


def sorted_matrix(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """All distances at once, each row sorted."""
    squares = (vectors * vectors).sum(axis=1)
    matrix = squares[:, None] + squares - 2 * (vectors @ vectors.T)
    np.fill_diagonal(matrix, np.inf)
    ids = np.argsort(matrix, axis=1)[:, :K]
    nearest = np.take_along_axis(matrix, ids, axis=1)
    return ids, np.sqrt(np.maximum(nearest, 0))


def exactly(full: bool) -> dict[str, Any]:
    """Exact search in blocks against the whole matrix of distances, sorted."""
    rows = 20_000 if full else 10_000
    vectors, ours, theirs = clustered(rows), [], []
    for _ in range(REPEATS):
        table, spent = searched(vectors, "exact")
        ours.append(spent)
        started = time.perf_counter()
        ids, far = sorted_matrix(vectors)
        theirs.append(time.perf_counter() - started)
        assert np.allclose(table.distances, far, rtol=1e-3), "distances differ"
        assert np.mean(np.sort(table.ids) == np.sort(ids)) > 0.99, "neighbors differ"
    return _case(median(ours), median(theirs), rows, "the whole matrix, argsort of each row")


def by_graph(full: bool) -> dict[str, Any]:
    """HNSW, building included, against exact search of the same vectors."""
    rows = 300_000 if full else 100_000
    vectors = clustered(rows)
    table, ours = searched(vectors, "hnsw")
    found = recall(table, vectors, sample=SAMPLE)
    assert found >= 0.95, f"recall {found:.3f}"
    _, theirs = searched(vectors, "exact")
    case = _case(ours, theirs, rows, "exact search in blocks")
    return case | {"recall": found, "work": f"{case['work']}, recall {found:.4f}"}


def _case(ours: float, theirs: float, rows: int, against: str) -> dict[str, Any]:
    work = f"{rows:,} vectors of {SIZE} numbers, {K} neighbors"
    values = {"ratio": theirs / ours, "ours": ours, "theirs": theirs}
    return values | {"better": "higher", "against": against, "work": work}

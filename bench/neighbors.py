"""Nearest neighbors: exact against sorting the whole matrix, the graph against exact, and growth.

`python -m bench.neighbors FILE [ROWS ...]` measures growth up to 1,000,000 vectors (hours): each
size in a process of its own, written to FILE as it is done; sizes already there are not repeated.
The table of the docs is made from FILE.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import orjson

from trope.files import write_json
from trope.neighbors import Search, neighbors, recall
from trope.runtime import provenance

SIZE, K = 200, 200
SIZES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
REPEATS = 3
SAMPLE = 1_000
PAGE = Path(__file__).parents[1] / "docs" / "results" / "neighbors.md"

STEP = """
import resource, sys, time
from bench.neighbors import clustered, estimate, searched
from trope.neighbors import recall
rows = int(sys.argv[1])
vectors = clustered(rows)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
worked = time.process_time()
table, spent = searched(vectors, "hnsw")
worked = time.process_time() - worked
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
import json
print(json.dumps({
    "rows": rows, "seconds": spent, "processor_seconds": worked,
    "peak_memory_mb": memory, "memory_before_mb": before,
    "recall": recall(table, vectors), "exact_seconds": estimate(vectors),
}))
"""


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


def estimate(vectors: np.ndarray) -> float:
    """Seconds of exact search of all rows, from that of a sample."""
    from trope.neighbors import exact
    from trope.neighbors.rows import ready

    rows = ready(vectors, "l2")
    sample = np.random.default_rng(0).choice(len(rows), min(len(rows), 2 * SAMPLE), replace=False)
    started = time.perf_counter()
    exact.nearest(rows, K, sample)
    return (time.perf_counter() - started) * len(rows) / len(sample)


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


def growth(path: Path, sizes: tuple[int, ...] = SIZES) -> list[dict[str, Any]]:
    """Time, memory and recall of the graph by number of vectors; resumable."""
    done: list[dict[str, Any]] = orjson.loads(path.read_bytes()) if path.exists() else []
    for rows in sizes:
        if any(row["rows"] == rows for row in done):
            continue
        print(f"{rows:,} vectors …", flush=True)
        code = [sys.executable, "-c", STEP, str(rows)]
        found = subprocess.run(code, capture_output=True, check=True)
        done.append(orjson.loads(found.stdout) | {"made": provenance()})
        print(f"  {done[-1]}")
        write_json(path, sorted(done, key=lambda row: row["rows"]))
    return done


def page(rows: list[dict[str, Any]]) -> str:
    """The table of the docs; the time of exact search is estimated from a sample of the rows."""
    lines = [
        "| vectors | HNSW (clock) | (processors) | peak memory | recall@200 | exact | made |",
        "|---:|---:|---:|---:|---:|---:|---|",
    ]
    for row in rows:
        made = row["made"]
        lines.append(
            f"| {row['rows']:,} | {row['seconds']:,.0f} s | {row['processor_seconds']:,.0f} s "
            f"| {row['peak_memory_mb'] / 1e3:.2f} GB | {row['recall']:.4f} "
            f"| {row['exact_seconds']:,.0f} s | {made['date'][:10]}, {made['machine']}, "
            f"{made['commit']} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.neighbors")
    parser.add_argument("file", type=Path)
    parser.add_argument("rows", type=int, nargs="*", default=SIZES)
    chosen = parser.parse_args()
    PAGE.write_text(page(growth(chosen.file, tuple(chosen.rows))), encoding="utf-8")

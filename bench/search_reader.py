"""Run as a program: what memory a process takes that opens an index and asks it, in megabytes.

Files are mapped: what is counted are the pages that the queries touched, beside what Python needs.
"""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pathlib import Path

import numpy as np

from bench.memory import memory_mb

ROOT = Path(__file__).parents[1]


def memory_of(index: Path, queries: np.ndarray, k: int) -> float:
    """Measured in a process of its own."""
    asked = index.with_name("queries.npy")
    np.save(asked, queries)
    command = [sys.executable, "-m", "bench.search_reader", str(index), str(asked), str(k)]
    done = subprocess.run(command, capture_output=True, cwd=ROOT, check=True)
    return float(done.stdout)


def main(index: Path, queries: np.ndarray, k: int) -> float:
    """The memory after the queries, less that of the packages alone."""
    from trope.index import open_engine

    import_module("faiss")
    np.random.default_rng(0).standard_normal((64, 64)) @ np.ones((64, 64))  # starts threads
    before = memory_mb("VmRSS")
    open_engine(index).nearest(queries[:, None], k, "image")
    return memory_mb("VmRSS") - before


if __name__ == "__main__":
    print(main(Path(sys.argv[1]), np.load(sys.argv[2]), int(sys.argv[3])))

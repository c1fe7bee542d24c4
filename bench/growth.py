"""How the search for neighbors grows with the vectors, up to a million: `make bench` has no time.

`python -m bench.growth [ROWS ...]` measures each size twice, in processes of their own: the graph
(time, memory, recall), and exact search estimated from a sample of rows. Results are written to
`bench/growth.json` as they come; what is there is not repeated. The docs' table is made from it.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from bench.memory import memory_mb
from bench.neighbors import SAMPLE, K, clustered, searched
from trope.files import write_json
from trope.neighbors import exact, recall
from trope.neighbors.rows import ready
from trope.runtime import provenance

SIZES = (10_000, 30_000, 50_000, 100_000, 300_000, 1_000_000)
FILE = Path(__file__).parent / "growth.json"
PAGE = Path(__file__).parents[1] / "docs" / "results" / "neighbors.md"


def graph(rows: int) -> dict[str, Any]:
    """HNSW, building included."""
    vectors = clustered(rows)
    before, worked = memory_mb("VmRSS"), time.process_time()
    table, spent = searched(vectors, "hnsw")
    worked = time.process_time() - worked
    memory = {"memory_before_mb": before, "peak_memory_mb": memory_mb()}
    found = {"seconds": spent, "processor_seconds": worked, **memory}
    return found | {"recall": recall(table, vectors)}


def exactly(rows: int) -> dict[str, Any]:
    """Exact search of all rows, from that of a sample."""
    vectors = ready(clustered(rows), "l2")
    size = min(len(vectors), 2 * SAMPLE)
    sample = np.random.default_rng(0).choice(len(vectors), size, replace=False)
    started, worked = time.perf_counter(), time.process_time()
    exact.nearest(vectors, K, sample)
    scale = len(vectors) / size
    spent, worked = time.perf_counter() - started, time.process_time() - worked
    return {"seconds": spent * scale, "processor_seconds": worked * scale, "sample": size}


PARTS: dict[str, Callable[[int], dict[str, Any]]] = {"graph": graph, "exact": exactly}


def grow(sizes: list[int]) -> dict[str, dict[str, Any]]:
    """What is missing, part by part."""
    done: dict[str, dict[str, Any]] = orjson.loads(FILE.read_bytes()) if FILE.exists() else {}
    for rows in sizes:
        for part in PARTS:
            row = done.setdefault(str(rows), {})
            if part not in row:
                print(f"{rows:,} vectors: {part} …", flush=True)
                command = [sys.executable, "-m", "bench.growth", "--part", part, str(rows)]
                found = subprocess.run(command, capture_output=True, check=True)
                row[part] = orjson.loads(found.stdout) | {"made": provenance()}
                write_json(FILE, done)
    return done


def page(done: dict[str, dict[str, Any]]) -> str:
    """The table of the docs."""
    lines = [
        "| vectors | HNSW: clock | processors | peak memory | recall@200 | exact: clock | made |",
        "|---:|---:|---:|---:|---:|---:|---|",
    ]
    for rows, found in sorted(done.items(), key=lambda item: int(item[0])):
        graph, exact, made = found["graph"], found["exact"], found["graph"]["made"]
        lines.append(
            f"| {int(rows):,} | {graph['seconds']:,.0f} s | {graph['processor_seconds']:,.0f} s "
            f"| {graph['peak_memory_mb'] / 1e3:.2f} GB | {graph['recall']:.4f} "
            f"| {exact['seconds']:,.0f} s | {made['date'][:10]}, {made['machine']}, "
            f"{made['commit']} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.growth")
    parser.add_argument("--part", choices=sorted(PARTS))
    parser.add_argument("rows", type=int, nargs="*", default=list(SIZES))
    chosen = parser.parse_args()
    if chosen.part:
        sys.stdout.buffer.write(orjson.dumps(PARTS[chosen.part](chosen.rows[0])))
    else:
        PAGE.write_text(page(grow(chosen.rows)), encoding="utf-8")

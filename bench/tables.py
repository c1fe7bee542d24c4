"""Opening and splitting a large JSONL table, each in a process with memory of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import orjson

ROOT = Path(__file__).parents[1]
REPEATS = 3

OPEN_OURS = """
import trope, trope.data.readers
started = time.perf_counter()
pairs = trope.open(sys.argv[1])
answer = [len(pairs), pairs[0].id, pairs[len(pairs) - 1].texts[0]]
"""

OPEN_THEIRS = """
import json
with open(sys.argv[1], encoding="utf-8") as handle:
    rows = [json.loads(line) for line in handle]
answer = [len(rows), rows[0]["id"], rows[-1]["text"]]
"""

SPLIT_OURS = """
import trope
from trope.data.splits import SplitPlan, split
pairs = trope.open(sys.argv[1])
started = time.perf_counter()
done, report = split(pairs, SplitPlan(images="path"))
answer = [report.rows, report.components, report.largest]
"""

SPLIT_THEIRS = """
import json
with open(sys.argv[1], encoding="utf-8") as handle:
    rows = [json.loads(line) for line in handle]
started = time.perf_counter()
parent, seen = list(range(len(rows))), {}
def root(i):
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i
for i, row in enumerate(rows):
    text = " ".join(row["text"].casefold().split())
    for key in (("g", row["group"]), ("i", row["image"]), ("t", text)):
        parent[root(i)] = root(seen.setdefault(key, i))
sizes = {}
for i in range(len(rows)):
    sizes[root(i)] = sizes.get(root(i), 0) + 1
names, want = ["train", "val", "test"], [0.8 * len(rows), 0.1 * len(rows), 0.1 * len(rows)]
have = [0, 0, 0]
for size in sorted(sizes.values(), reverse=True):
    deficits = [w - h for w, h in zip(want, have)]
    have[deficits.index(max(deficits))] += size
answer = [dict(zip(names, have)), len(sizes), max(sizes.values())]
"""

FRAME = """
import sys, time
started = time.perf_counter()
{body}
spent = time.perf_counter() - started
import json
from bench.memory import memory_mb
print(json.dumps([spent, memory_mb(), answer]))
"""


def write_rows(path: Path, rows: int, seed: int = 0) -> None:
    """News-like rows: a text of 5 to 30 words, two rows an image, ten rows a group."""
    random = np.random.default_rng(seed)
    letters = random.integers(97, 123, (20_000, 9), np.uint8)
    words = [
        bytes(w[:n]).decode() for w, n in zip(letters, random.integers(2, 10, 20_000), strict=True)
    ]
    with path.open("wb") as handle:
        for i in range(rows):
            picked = random.integers(0, len(words), random.integers(5, 31))
            row = {
                "id": f"r{i}",
                "image": f"images/{i // 2:07d}.jpg",
                "text": " ".join(words[k] for k in picked),
                "labels": [words[i % 50]],
                "group": f"g{i // 10}",
                "year": 2000 + i % 20,
            }
            handle.write(orjson.dumps(row) + b"\n")


def _run(body: str, path: Path) -> tuple[float, float, Any]:
    """Seconds, peak megabytes and answer of a piece of code in a new process."""
    code = FRAME.format(body=body)
    command = [sys.executable, "-c", code, str(path)]
    done = subprocess.run(command, capture_output=True, check=True, cwd=ROOT)
    spent, memory, answer = orjson.loads(done.stdout)
    return spent, memory, answer


def _side_by_side(ours: str, theirs: str, full: bool) -> dict[str, Any]:
    rows = 1_000_000 if full else 100_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "pairs.jsonl"
        write_rows(path, rows)
        runs = [(_run(ours, path), _run(theirs, path)) for _ in range(REPEATS)]
        size = path.stat().st_size / 1e6
    (_, memory, mine), (_, memory_theirs, others) = runs[0]
    assert mine == others, f"outputs differ: {mine} and {others}"
    own, peer = median(a[0] for a, _ in runs), median(b[0] for _, b in runs)
    return {
        "ratio": peer / own,
        "better": "higher",
        "ours": own,
        "theirs": peer,
        "work": f"{rows:,} rows, {size:,.0f} MB of JSON",
        "peak_memory_mb": memory,
        "peak_memory_theirs_mb": memory_theirs,
    }


def opening(full: bool) -> dict[str, Any]:
    """`trope.open` against a list of parsed lines."""
    found = _side_by_side(OPEN_OURS, OPEN_THEIRS, full)
    return found | {"against": "json.loads a line, kept in a list"}


def splitting(full: bool) -> dict[str, Any]:
    """Components and the greedy rule against union-find in plain Python."""
    found = _side_by_side(SPLIT_OURS, SPLIT_THEIRS, full)
    return found | {"against": "union-find and the greedy rule in plain loops"}

"""The server under load, against search called in the same process.

A real server on loopback, asked by processes of their own: 1, 8 and 32 clients, each a connection
that asks as soon as it is answered. No query comes twice, so that none is remembered. Searching in
process is one thread that asks the same kind of queries. First both sides answer some queries, and
their hits are compared; any error ends the measurement.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import orjson

from bench.web_data import made, queries
from trope.search import open_index

ROOT = Path(__file__).parents[1]
SIZES = (10_000, 100_000)
CLIENTS = (1, 8, 32)
SECONDS, STEADY, STEADY_FULL = 8.0, 120.0, 600.0
COMPARED, K = 20, 24
STEADIER = 1.10  # memory at the end over memory after the first quarter


@contextmanager
def serving(index: Path) -> Iterator[tuple[int, int]]:
    """A server in a process of its own: its port and its number."""
    command = [sys.executable, "-m", "trope", "serve", str(index), "--port", "0", "--rate", "0"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline().split("127.0.0.1:")[1].split("/")[0]), process.pid
    finally:
        process.terminate()
        process.wait(30)


def asked(port: int, clients: int, seconds: float, seed: int) -> dict[str, Any]:
    command = [sys.executable, "-m", "bench.web_clients", *map(str, (port, clients, seconds, seed))]
    done = subprocess.run(command, capture_output=True, cwd=ROOT, check=True)
    found: dict[str, Any] = orjson.loads(done.stdout)
    assert not found["errors"], f"{found['errors']} errors of {found['requests']} requests"
    return found


def compared(index: Path, port: int) -> None:
    """Both sides find the same."""
    here = open_index(index)
    for text in queries(COMPARED, 5):
        url = f"http://127.0.0.1:{port}/api/v1/search?k={K}&q={quote(text)}"
        with urllib.request.urlopen(url, timeout=30) as answer:
            there = [hit["key"] for hit in orjson.loads(answer.read())["hits"]]
        assert there == [f"image:{hit.id}" for hit in here.search(text, k=K)], text


def in_process(index: Path, seconds: float) -> float:
    """Searches a second by one thread, after a first one that loads the model."""
    here, texts = open_index(index), iter(queries(100_000, 6))
    here.search(next(texts), k=K)
    count, started = 0, time.perf_counter()
    while time.perf_counter() - started < seconds:
        here.search(next(texts), k=K)
        count += 1
    return count / (time.perf_counter() - started)


@cache
def loaded(items: int) -> dict[str, Any]:
    """One size: searches in process, then clients, few and many."""
    with tempfile.TemporaryDirectory() as folder:
        index = made(Path(folder), items)
        alone = in_process(index, SECONDS)
        with serving(index) as (port, _):
            compared(index, port)
            asked(port, 2, 2.0, 7)
            rounds = [asked(port, clients, SECONDS, clients) for clients in CLIENTS]
    return {"in_process_per_second": alone, "rounds": rounds}


def load(items: int) -> Callable[[bool], dict[str, Any]]:
    def measure(full: bool) -> dict[str, Any]:
        found = loaded(items)
        best = max(found["rounds"], key=lambda one: one["per_second"])
        ours, theirs = 1_000 / best["per_second"], 1_000 / found["in_process_per_second"]
        said = "; ".join(
            f"{one['clients']} clients {one['per_second']:,.0f} a second, "
            f"p50 {one['p50_ms']:.1f} ms, p99 {one['p99_ms']:.1f} ms, {one['errors']} errors"
            for one in found["rounds"]
        )
        return found | {
            "ratio": ours / theirs,
            "better": "lower",
            "against": "search in the same process, one thread",
            "work": f"{items:,} items, {K} hits, seconds of 1,000 searches: {said}",
            "ours": ours,
            "theirs": theirs,
        }

    return measure


def steady(full: bool) -> dict[str, Any]:
    """Memory of a server that 8 clients ask all the time: at the end, and after a quarter."""
    seconds = STEADY_FULL if full else STEADY
    with tempfile.TemporaryDirectory() as folder, serving(made(Path(folder), SIZES[0])) as server:
        port, process = server
        asked(port, 8, 5.0, 8)
        command = [sys.executable, "-m", "bench.web_clients", str(port), "8", str(seconds), "9"]
        asking = subprocess.Popen(command, stdout=subprocess.PIPE, cwd=ROOT)
        sizes = []
        while asking.poll() is None:
            sizes.append(_resident_mb(process))
            time.sleep(1.0)
        found = orjson.loads(asking.communicate()[0])
    assert not found["errors"], f"{found['errors']} errors"
    quarter = len(sizes) // 4
    early, late = np.mean(sizes[quarter : 2 * quarter]), np.mean(sizes[-quarter:])
    assert late < early * STEADIER, f"memory grew from {early:,.0f} to {late:,.0f} MB"
    told = f"{found['requests']:,} searches by 8 clients in {seconds:.0f} s, no errors; memory "
    return found | {
        "ratio": float(late / early),
        "better": "lower",
        "against": "its own memory in the second quarter of the time",
        "work": f"{told}{early:,.0f} MB in the second quarter, {late:,.0f} MB in the last",
        "ours": seconds,
        "theirs": seconds,
        "memory_mb": [round(size, 1) for size in sizes],
    }


def _resident_mb(process: int) -> float:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith("VmRSS"))


CASES: dict[str, Callable[[bool], dict[str, Any]]] = {
    "load-10k": load(SIZES[0]),
    "load-100k": load(SIZES[1]),
    "memory": steady,
}

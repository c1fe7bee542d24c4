"""Search in an index against bare FAISS, hnswlib and Milvus; encoding against the bare model.

Vectors of 256 numbers lie around centers, as those of a trained model do, queries near them. Sizes
are measured in processes of their own; both sides answer the same queries in turn, and their
answers are compared first. Memory is that of a process that only opens the index and asks it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from bench import search_encoding
from bench.search_reader import memory_of
from trope.index import Engine, IndexSettings, State, create, open_engine
from trope.index.items import KEY, MODALITY

SIZE, K, QUERIES, REPEATS = 256, 10, 1_000, 5
SINGLE = 300  # queries asked one by one
SIZES, FULL = (10_000, 100_000), 1_000_000
PATIENCE = 3_600  # seconds for a server to index what it was given
FLOOR = 0.9  # a recall below which no speed is worth reporting
ROOT = Path(__file__).parents[1]

Ask = Callable[[np.ndarray], object]


def clustered(rows: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Unit vectors, 100 to a center on average, and queries around the same centers."""
    random = np.random.default_rng(seed)
    centers = random.standard_normal((max(1, rows // 100), SIZE), np.float32)
    whole = []
    for count in (rows, QUERIES):
        noise = random.standard_normal((count, SIZE), np.float32) * np.float32(0.7)
        noise += centers[random.integers(0, len(centers), count)]
        whole.append(noise / np.linalg.norm(noise, axis=1, keepdims=True))
    return whole[0], whole[1]


def lines(count: int) -> tuple[list[str], pa.Table]:
    ids = [f"image:r{i}" for i in range(count)]
    rows = {KEY: ids, MODALITY: ["image"] * count, "id": [f"r{i}" for i in range(count)]}
    return ids, pa.table(rows | {"year": np.arange(count) % 50 + 1970})


def numbers(ids: np.ndarray) -> np.ndarray:
    """Row numbers of the ids of items."""
    return np.array([[int(name[7:]) for name in row] for row in ids])


def truth(vectors: np.ndarray, queries: np.ndarray) -> np.ndarray:
    import faiss

    return faiss.knn(queries, vectors, K, metric=faiss.METRIC_INNER_PRODUCT)[1]


def recall(found: np.ndarray, right: np.ndarray) -> float:
    pairs = zip(found.tolist(), right.tolist(), strict=True)
    return float(np.mean([len({*a} & {*b}) / K for a, b in pairs]))


def timed(ask: Ask, queries: np.ndarray) -> tuple[float, float]:
    """Seconds a query: one by one, and all at once."""
    started = time.perf_counter()
    for query in queries[:SINGLE]:
        ask(query[None])
    single = (time.perf_counter() - started) / SINGLE
    started = time.perf_counter()
    ask(queries)
    return single, (time.perf_counter() - started) / len(queries)


def turns(
    ours: Callable[[np.ndarray], object],
    theirs: Callable[[np.ndarray], object],
    queries: np.ndarray,
) -> dict[str, float]:
    """Medians of several turns, each side after the other; the first turn warms both."""
    found = [(timed(ours, queries), timed(theirs, queries)) for _ in range(REPEATS + 1)][1:]
    names = ("single", "batch")
    return {
        f"{side}_{name}": median(turn[i][j] for turn in found)
        for i, side in enumerate(("ours", "theirs"))
        for j, name in enumerate(names)
    }


def ours_in(home: Path, vectors: np.ndarray, settings: IndexSettings) -> tuple[Path, float]:
    """Our index of the vectors and the seconds it took: built once for all peers of a size.

    `settings` differ in `flat` alone, which says no more than whether there is a graph.
    """
    kind = "flat" if len(vectors) <= settings.flat else "graph"
    folder = home / f"{len(vectors)}-{kind}"
    noted = home / f"{folder.name}.seconds"
    if not noted.exists():
        engine, spent = built(folder, vectors, settings)
        engine.close()
        noted.write_text(repr(spent))
    return folder, float(noted.read_text())


def built(folder: Path, vectors: np.ndarray, settings: IndexSettings) -> tuple[Engine, float]:
    """An index of the vectors, opened as a reader does, and the seconds it took."""
    folder.mkdir(parents=True, exist_ok=True)
    ids, rows = lines(len(vectors))
    engine = create(folder, State(SIZE, settings=settings))
    started = time.perf_counter()
    engine.add(ids, vectors[:, None], rows)
    spent = time.perf_counter() - started
    return open_engine(folder), spent


def bare_faiss(vectors: np.ndarray, settings: IndexSettings) -> tuple[Any, float]:
    """What our engine uses, with the same parameters, and nothing around it."""
    import faiss

    started = time.perf_counter()
    if len(vectors) <= settings.flat:
        index = faiss.IndexFlatIP(SIZE)
    else:
        index = faiss.IndexHNSWFlat(SIZE, settings.links, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction, index.hnsw.efSearch = settings.building, settings.asking
    index.add(vectors)
    return index, time.perf_counter() - started


def hnswlib_index(vectors: np.ndarray, settings: IndexSettings) -> tuple[Any, float]:
    import hnswlib

    started = time.perf_counter()
    index = hnswlib.Index("ip", SIZE)
    index.init_index(len(vectors), ef_construction=settings.building, M=settings.links)
    index.add_items(vectors)
    index.set_ef(settings.asking)
    return index, time.perf_counter() - started


def against(
    rows: int, home: Path, peer: str, settings: IndexSettings | None = None
) -> dict[str, Any]:
    """One size, ours and a peer."""
    settings = settings or IndexSettings()
    vectors, queries = clustered(rows)
    right = truth(vectors, queries)
    folder, spent = ours_in(home, vectors, settings)
    disk, memory = _bytes(folder), memory_of(folder, queries, K)
    make = bare_faiss if peer == "faiss" else hnswlib_index
    other, theirs = make(vectors, settings)
    ours = asked(open_engine(folder))

    def peers(some: np.ndarray) -> np.ndarray:
        found = other.search(some, K)[1] if peer == "faiss" else other.knn_query(some, K)[0]
        return np.asarray(found)

    shares = recall(numbers(ours(queries)), right), recall(peers(queries), right)
    assert shares[0] >= max(shares[1] - 0.01, FLOOR), f"recall {shares}"
    times = turns(ours, peers, queries)
    return times | {
        "recall": shares[0],
        "recall_theirs": shares[1],
        "build": spent,
        "build_theirs": theirs,
        "bytes": disk,
        "memory_mb": memory,
    }


def asked(index: Engine) -> Callable[[np.ndarray], np.ndarray]:
    """The nearest items of queries, by one of our engines."""
    return lambda some: index.nearest(some[:, None], K, "image").ids


def milvus(rows: int, home: Path) -> dict[str, Any]:
    """Ours in one process against a real Milvus server, asked through the same interface."""
    sys.path.insert(0, str(ROOT / "tests"))
    import milvus_server

    if why := milvus_server.missing():
        raise SystemExit(f"no Milvus server: {why}")
    vectors, queries = clustered(rows)
    right = truth(vectors, queries)
    folder, spent = ours_in(home, vectors, IndexSettings())
    with tempfile.TemporaryDirectory() as server:
        (Path(server) / "server").mkdir()
        with milvus_server.running(Path(server) / "server") as uri:
            settings = IndexSettings(engine="milvus", uri=uri, consistency="bounded", batch=2_000)
            remote, theirs = built(Path(server) / "theirs", vectors, settings)
            theirs += settled(remote)
            pair = asked(open_engine(folder)), asked(remote)
            shares = [recall(numbers(ask(queries)), right) for ask in pair]
            assert min(shares) >= FLOOR, f"recall {shares}"
            times = turns(*pair, queries)
            remote.close()
    made = {"recall": shares[0], "recall_theirs": shares[1]}
    return times | made | {"build": spent, "build_theirs": theirs}


def settled(remote: Any) -> float:
    """Seconds until a server answers by an index of all rows, which it makes in its own time."""
    client, name = remote.client, remote.state.remote["collection"]
    started = time.perf_counter()
    client.flush(name)
    while time.perf_counter() - started < PATIENCE:
        pending = [
            int(client.describe_index(name, index)["pending_index_rows"])
            for index in client.list_indexes(name)
        ]
        if not any(pending) and all(one.index_name for one in client.list_loaded_segments(name)):
            return time.perf_counter() - started
        time.sleep(1)
    raise SystemExit(f"Milvus had not indexed all rows after {PATIENCE:,} s")


def crossover(rows: int, home: Path) -> dict[str, Any]:
    """Flat and graph of the same vectors: where one becomes faster than the other."""
    vectors, queries = clustered(rows)
    flat, _ = ours_in(home, vectors, IndexSettings(flat=10**9))
    graph, spent = ours_in(home, vectors, IndexSettings(flat=0))
    both = asked(open_engine(flat)), asked(open_engine(graph))
    return turns(*both, queries) | {"build": spent}


PARTS: dict[str, Callable[[int, Path], dict[str, Any]]] = {
    "faiss": lambda rows, home: against(rows, home, "faiss"),
    "hnswlib": lambda rows, home: against(rows, home, "hnswlib", IndexSettings(flat=0)),
    "milvus": milvus,
    "crossover": crossover,
}


@cache
def apart(part: str, rows: int) -> dict[str, Any]:
    """A measurement in a process of its own, done once for all cases that show a part of it."""
    command = [sys.executable, "-m", "bench.search", part, str(rows), _home().name]
    done = subprocess.run(command, capture_output=True, cwd=ROOT, check=False)
    if done.returncode:
        raise SystemExit(done.stderr.decode()[-2_000:])
    return dict(orjson.loads(done.stdout))


@cache
def _home() -> tempfile.TemporaryDirectory[str]:
    """Where our indexes stay until all peers were compared with them."""
    return tempfile.TemporaryDirectory()


def _case(part: str, name: str, rows: int, peer: str, overhead: bool) -> dict[str, Any]:
    found = apart(part, rows)
    ours, theirs = found[f"ours_{name}"], found[f"theirs_{name}"]
    how = "one by one" if name == "single" else f"{QUERIES:,} at once"
    work = (
        f"{rows:,} vectors of {SIZE}, {K} nearest, {how}: {ours * 1e3:.3f} and "
        f"{theirs * 1e3:.3f} ms a query; recall {found['recall']:.3f} and "
        f"{found['recall_theirs']:.3f}; built in "
        f"{found['build']:.1f} and {found['build_theirs']:.1f} s"
    )
    if "bytes" in found:
        work += f"; {found['bytes'] / 1e6:,.0f} MB on disk, {found['memory_mb']:,.0f} MB of memory"
    ratio = ours / theirs if overhead else theirs / ours
    made = {"ratio": ratio, "better": "lower" if overhead else "higher", "against": peer}
    return made | {"work": work, "ours": ours * QUERIES, "theirs": theirs * QUERIES, **found}


def _sizes(full: bool) -> tuple[int, ...]:
    return (FULL,) if full else SIZES


def _worst(part: str, name: str, peer: str, overhead: bool) -> Callable[[bool], dict[str, Any]]:
    def measure(full: bool) -> dict[str, Any]:
        found = [_case(part, name, rows, peer, overhead) for rows in _sizes(full)]
        worst = (max if overhead else min)(found, key=lambda case: case["ratio"])
        return worst | {"sizes": {str(n): c for n, c in zip(_sizes(full), found, strict=True)}}

    return measure


def _bytes(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


SAME = "bare FAISS with the same parameters"
CASES: dict[str, Callable[[bool], dict[str, Any]]] = {
    "faiss-single": _worst("faiss", "single", SAME, True),
    "faiss-batch": _worst("faiss", "batch", SAME, True),
    "hnswlib-single": _worst("hnswlib", "single", "hnswlib with the same parameters", False),
    "hnswlib-batch": _worst("hnswlib", "batch", "hnswlib with the same parameters", False),
    "milvus-single": _worst("milvus", "single", "a Milvus 2.3.5 server on loopback", False),
    "milvus-batch": _worst("milvus", "batch", "a Milvus 2.3.5 server on loopback", False),
    "encoding-texts": search_encoding.texts,
    "encoding-pictures": search_encoding.pictures,
    "encoding-files": search_encoding.files,
}

if __name__ == "__main__":
    measured = PARTS[sys.argv[1]](int(sys.argv[2]), Path(sys.argv[3]))
    sys.stdout.buffer.write(orjson.dumps(measured))

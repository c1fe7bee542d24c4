"""Items around topics, and what a plain loop finds among them."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa

from trope.index import Engine, IndexSettings, State, create
from trope.index.details import Details, Kind, one_after_another
from trope.index.items import KEY, MODALITY, PLACE, image_key, text_key

SIZE = 8
LOCAL = {
    "exact": IndexSettings(engine="exact"),
    "flat": IndexSettings(engine="faiss"),
    "graph": IndexSettings(engine="faiss", flat=4, links=16, asking=32),
}


def environment() -> dict[str, str]:
    """For programs that a test starts: its cache, and what it imports."""
    paths = os.pathsep.join([str(Path(__file__).parent), *filter(None, sys.path)])
    return os.environ | {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1"}


def unit(random: np.random.Generator, *shape: int) -> np.ndarray:
    values = random.standard_normal(shape).astype(np.float32)
    return values / np.linalg.norm(values, axis=-1, keepdims=True)


def lines(ids: list[str], years: list[int | None] | None = None) -> pa.Table:
    """Lines of items with a few columns to filter by."""
    rows = [name.rpartition(":")[2] for name in ids]
    numbers = [int("".join(filter(str.isdigit, row)) or 0) for row in rows]
    table = {
        KEY: ids,
        MODALITY: [name.partition(":")[0] for name in ids],
        PLACE: pa.array([0] * len(ids), pa.int32()),
        "id": rows,
        "text": [f"text of {row}" for row in rows],
        "labels": pa.array([["odd"] if n % 2 else [] for n in numbers], pa.list_(pa.string())),
        "year": pa.array(years or [2000 + n for n in numbers], pa.int64()),
        "section": ["art" if n % 3 else None for n in numbers],
    }
    return pa.table(table)


def items(count: int, senses: int = 1, seed: int = 0, start: int = 0, kind: str = "image"):
    """Ids, vectors and lines of `count` items."""
    random = np.random.default_rng(seed)
    rows = [f"r{start + i}" for i in range(count)]
    ids = [image_key(row) if kind == "image" else text_key(row, 0) for row in rows]
    return ids, unit(random, count, senses, SIZE), lines(ids)


def details(count: int, seed: int = 0, kind: Kind = "locals") -> Details:
    """What a scorer needs of so many items: parts, as many as each has."""
    random = np.random.default_rng(seed)
    counts = random.integers(1, 5, count) if kind == "locals" else np.ones(count, np.int64)
    rows = random.integers(-9, 9, (int(counts.sum()), SIZE))
    numbers = np.int16 if kind == "locals" else np.float32
    return one_after_another(kind, [rows.astype(numbers)], counts)


def made(folder: Path, settings: IndexSettings, senses: int = 1, details: Kind = "") -> Engine:
    """An index without items."""
    folder.mkdir(parents=True, exist_ok=True)
    return create(folder, State(SIZE, senses, details, settings=settings))


def best(queries: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """The best of all pairs of senses, by loops."""
    found = np.full((len(queries), len(vectors)), -np.inf)
    for i, query in enumerate(queries):
        for j, item in enumerate(vectors):
            for one in query:
                for other in item:
                    found[i, j] = max(found[i, j], float(np.dot(one, other)))
    return found

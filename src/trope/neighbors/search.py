"""The k nearest neighbors of every vector: exact where that is fast enough, else from a graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np
from jaxtyping import Float, Int

from trope.errors import DataError, UsageError, suggestion
from trope.files import locked
from trope.neighbors import exact, hnsw
from trope.neighbors.candidates import Distances, Ids, nothing
from trope.neighbors.rows import METRICS, Metric, checked, existing, fingerprint, ready
from trope.neighbors.table import FORMAT, Made, NeighborTable
from trope.runtime import cache_folder, generator

Method: TypeAlias = Literal["auto", "exact", "hnsw"]
METHODS: tuple[Method, ...] = get_args(Method)
EXACT_ROWS = 50_000  # up to here `auto` is exact

Vectors: TypeAlias = Float[np.ndarray, "n d"]
Owners: TypeAlias = Int[np.ndarray, " n"]
Queries: TypeAlias = Int[np.ndarray, " queries"]


@dataclass(frozen=True)
class Search:
    """How neighbors are found: how many, how near is measured, and by which method."""

    k: int = 200
    metric: Metric = "l2"
    method: Method = "auto"
    graph: hnsw.Graph = field(default_factory=hnsw.Graph)

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"k must be at least 1, found {self.k}")
        for name, known in (("metric", METRICS), ("method", METHODS)):
            value = getattr(self, name)
            if value not in known:
                raise ValueError(f"no {name} '{value}'{suggestion(value, known)}")

    def method_for(self, count: int) -> str:
        """What `auto` means for so many rows, with content or without."""
        if self.method != "auto":
            return self.method
        return "exact" if count <= EXACT_ROWS else "hnsw"


def neighbors(
    vectors: Vectors, search: Search | None = None, owners: Owners | None = None
) -> NeighborTable:
    """The nearest rows of every row: never itself, a copy of it, or a row of the same owner.

    A row of zeros is an item without content: it has no neighbors and is nobody's. The table is
    never wider than there are rows, whatever `k` is.
    """
    search = search or Search()
    vectors, owners = checked(vectors, owners)
    rows, k = ready(vectors, search.metric, owners), _within(search.k, len(vectors))
    method = search.method_for(len(vectors))
    if method == "exact":
        found, far = exact.nearest(rows, k)
    else:
        found, far = hnsw.nearest(rows, k, search.graph)
    made = Made(fingerprint(vectors, owners), search.metric, method, k)
    return _whole(rows.numbers, found, far, len(vectors), made)


def neighbors_of(
    queries: Queries, vectors: Vectors, search: Search | None = None, owners: Owners | None = None
) -> tuple[Ids, Distances]:
    """The same for some rows alone, always exact: a few rows among millions take seconds."""
    search = search or Search()
    vectors, owners = checked(vectors, owners)
    queries = existing(queries, len(vectors))
    rows, k = ready(vectors, search.metric, owners), _within(search.k, len(vectors))
    ids, far = nothing(len(queries), k)
    filled = np.flatnonzero(np.isin(queries, rows.numbers))
    found, far[filled] = exact.nearest(rows, k, np.searchsorted(rows.numbers, queries[filled]))
    ids[filled] = _numbers(rows.numbers, found)
    return ids, far


def cached_neighbors(
    vectors: Vectors, search: Search | None = None, owners: Owners | None = None
) -> NeighborTable:
    """The same, mapped from the cache; computed and saved there when first asked for.

    A damaged table is computed again.
    """
    search = search or Search()
    vectors, owners = checked(vectors, owners)
    mark = fingerprint(vectors, owners)
    path = _place(mark, search, len(vectors))
    if (table := _saved(path, mark)) is not None:
        return table
    with locked(path.parent):
        if (table := _saved(path, mark)) is not None:  # another process may have finished by now
            return table
        neighbors(vectors, search, owners).save(path)
    return NeighborTable.load(path, mark)


def recall(
    table: NeighborTable,
    vectors: Vectors,
    owners: Owners | None = None,
    *,
    sample: int = 1_000,
    seed: int = 0,
) -> float:
    """The share of the true nearest neighbors that the table has, measured on a sample of rows.

    A neighbor counts as found when it is no farther than the farthest true one. Where there is no
    neighbor to find, the share is not a number.
    """
    if sample < 1:
        raise ValueError(f"sample must be at least 1, found {sample}")
    vectors, owners = checked(vectors, owners)
    if table.made.fingerprint != fingerprint(vectors, owners):
        raise UsageError("the table holds neighbors of other vectors")
    metric: Metric = "cosine" if table.made.metric == "cosine" else "l2"
    rows = ready(vectors, metric, owners)
    size = min(sample, len(rows))
    queries = generator(seed, "recall").choice(len(rows), size, replace=False)
    _, far = exact.nearest(rows, table.made.k, queries)
    limit = np.where(np.isfinite(far), far, -np.inf).max(axis=1, initial=-np.inf)
    found = np.asarray(table.distances[rows.numbers[queries]]) <= limit[:, None]
    wanted = np.isfinite(far).sum()
    return float(found.sum() / wanted) if wanted else float("nan")


def _whole(
    numbers: Int[np.ndarray, " some"], found: np.ndarray, far: np.ndarray, count: int, made: Made
) -> NeighborTable:
    """Row numbers of all vectors, where the search knew only those with content."""
    if len(numbers) == count:
        return NeighborTable(found, far, made)
    ids = np.full((count, made.k), -1, np.int32)
    distances = np.full((count, made.k), np.inf, np.float32)
    ids[numbers] = _numbers(numbers, found)
    distances[numbers] = far
    return NeighborTable(ids, distances, made)


def _numbers(numbers: Int[np.ndarray, " some"], found: Ids) -> Ids:
    """Row numbers of all vectors for those among the ones with content; -1 stays."""
    if not len(numbers):
        return found
    return np.where(found >= 0, numbers.astype(np.int32)[found], np.int32(-1))


def _within(k: int, count: int) -> int:
    """No row has more neighbors than there are rows: a larger k would only be filled up."""
    return min(k, max(1, count))


def _saved(path: Path, mark: str) -> NeighborTable | None:
    """A table from the cache; None if it is not there, or not whole."""
    try:
        return NeighborTable.load(path, mark)
    except DataError:
        return None


def _place(mark: str, search: Search, count: int) -> Path:
    method, k = search.method_for(count), _within(search.k, count)
    graph = search.graph
    how = f"-{graph.links}-{graph.building}-{graph.asking}" if method == "hnsw" else ""
    name = f"v{FORMAT}-{mark}-{search.metric}-{k}-{method}{how}.safetensors"
    return cache_folder() / "neighbors" / name

"""Nearly the k nearest rows from a graph (HNSW, Malkov & Yashunin 2016) built by FAISS.

Equal vectors are one point of the graph, which they would otherwise break into islands. The graph
is built by all cores, so two runs may differ in a few neighbors; one thread always builds the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float32, Int

from trope.neighbors.candidates import Distances, Ids, Places, choose, nothing
from trope.neighbors.points import Points
from trope.neighbors.rows import Rows
from trope.runtime import progress_bar

BLOCK = 2**11  # rows asked for at a time
STEP = 2**14  # points added at a time


@dataclass(frozen=True)
class Graph:
    """How dense the graph is, and how widely it is searched while building and while asking."""

    links: int = 32
    building: int = 100
    asking: int = 400

    def __post_init__(self) -> None:
        for name in ("links", "building", "asking"):
            if getattr(self, name) < 2:
                raise ValueError(f"{name} must be at least 2, found {getattr(self, name)}")


def nearest(rows: Rows, k: int, graph: Graph | None = None) -> tuple[Ids, Distances]:
    """Numbers and distances of nearly the k nearest rows; -1 and infinity fill up."""
    ids, far = nothing(len(rows), k)
    if not len(rows):
        return ids, far
    points, wanted = Points.of(rows), k + _siblings(rows)
    index = _built(rows.vectors[points.first], graph or Graph(), wanted + 1)
    with progress_bar("nearest neighbors, HNSW", len(rows)) as bar:
        for start in range(0, len(rows), BLOCK):
            queries = np.arange(start, min(start + BLOCK, len(rows)))
            _, near = index.search(rows.vectors[queries], min(wanted + 1, index.ntotal))
            places, found = _expanded(points, rows.copies[queries], near, wanted)
            apart = rows.distances(queries[places], found)
            ids[queries], far[queries] = choose(rows, queries, places, found, apart, k)
            bar.advance(bar.task_ids[0], len(queries))
    return ids, far


def _expanded(
    points: Points,
    own: Int[np.ndarray, " queries"],
    near: Int[np.ndarray, "queries some"],
    most: int,
) -> tuple[Places, Places]:
    """The rows behind found points, at most `most` for each query, none of its own point."""
    sizes = np.where((near >= 0) & (near != own[:, None]), points.sizes[near], 0)
    sizes = np.diff(np.minimum(np.cumsum(sizes, axis=1), most), axis=1, prepend=0).ravel()
    places = np.repeat(np.arange(len(near)), near.shape[1])
    return np.repeat(places, sizes), points.rows(near.ravel(), sizes)


def _siblings(rows: Rows) -> int:
    """How many rows of the same owner may stand among the nearest, at most."""
    return 0 if rows.owners is None else int(np.bincount(rows.owners).max()) - 1


def _built(vectors: Float32[np.ndarray, "points d"], graph: Graph, wanted: int) -> Any:
    import faiss

    index = faiss.IndexHNSWFlat(vectors.shape[1], graph.links)
    index.hnsw.efConstruction = graph.building
    index.hnsw.efSearch = max(graph.asking, wanted)
    with progress_bar("graph of neighbors", len(vectors)) as bar:
        for start in range(0, len(vectors), STEP):
            part = vectors[start : start + STEP]
            index.add(part)
            bar.advance(bar.task_ids[0], len(part))
    return index

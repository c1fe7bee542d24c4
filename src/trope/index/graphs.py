"""Graphs of near vectors (HNSW, Malkov & Yashunin 2016) by FAISS, in files that readers map.

A file holds the vectors too, so that they are on disk once. To a graph that is mapped nothing can
be added: FAISS would end the process.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import IO, Any

import numpy as np
from jaxtyping import Float32, Int

from trope.index.settings import IndexSettings
from trope.runtime import progress_bar

STEP = 2**13  # vectors added at a time

Nodes = Float32[np.ndarray, "nodes d"]


def read(path: Path, *, mapped: bool) -> Any:
    """A graph; one that is mapped is there at once, and cannot be changed."""
    faiss = _faiss()
    return faiss.read_index(str(path), faiss.IO_FLAG_MMAP_IFC if mapped else 0)


def write(graph: Any, file: IO[bytes]) -> None:
    """A graph with its vectors."""
    faiss = _faiss()
    faiss.write_index(graph, faiss.PyCallbackIOWriter(file.write))


def vectors(graph: Any) -> Nodes:
    """The vectors of a graph where they lie; they are there as long as the graph is."""
    faiss = _faiss()
    values = faiss.downcast_index(graph.storage).get_xb()
    return np.asarray(faiss.rev_swig_ptr(values, graph.ntotal * graph.d).reshape(-1, graph.d))


def grown(graph: Any | None, nodes: Nodes, settings: IndexSettings) -> Any:
    """A graph of all nodes, of which the first may be in one already."""
    faiss = _faiss()
    if graph is None:
        graph = faiss.IndexHNSWFlat(nodes.shape[1], settings.links, faiss.METRIC_INNER_PRODUCT)
        graph.hnsw.efConstruction = settings.building
    new = np.ascontiguousarray(nodes[graph.ntotal :])
    with progress_bar("graph of vectors", len(new)) as bar:
        for start in range(0, len(new), STEP):
            graph.add(new[start : start + STEP])
            bar.advance(bar.task_ids[0], len(new[start : start + STEP]))
    return graph


def parameters(asking: int) -> Any:
    """How widely a graph is searched."""
    return _faiss().SearchParametersHNSW(efSearch=asking)


def compared(
    nodes: Nodes, queries: Float32[np.ndarray, "queries d"], k: int
) -> tuple[Float32[np.ndarray, "queries k"], Int[np.ndarray, "queries k"]]:
    """The k nodes nearest to each query, by comparing with all of them."""
    faiss = _faiss()
    found = faiss.knn(queries, nodes, k, metric=faiss.METRIC_INNER_PRODUCT)
    return found[0], found[1]


def _faiss() -> Any:
    """Loaded when first needed; what it says about its types is not complete."""
    return import_module("faiss")

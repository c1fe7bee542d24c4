"""Nearest neighbors of vectors: found exactly or by a graph, saved, and chained."""

from trope.neighbors.chain import Chain
from trope.neighbors.hnsw import Graph
from trope.neighbors.search import Search, cached_neighbors, neighbors, neighbors_of, recall
from trope.neighbors.table import NeighborTable

__all__ = [
    "Chain",
    "Graph",
    "NeighborTable",
    "Search",
    "cached_neighbors",
    "neighbors",
    "neighbors_of",
    "recall",
]

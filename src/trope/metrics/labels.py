"""Labels of queries and items: how many they share, and how many set them apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Int32, Int64
from scipy import sparse

from trope.compiled import compiled, spread

Pairwise = Int32[np.ndarray, "queries items"]


@dataclass(frozen=True, eq=False)
class Labels:
    """Which labels some queries and all items have: a sparse row of ones for each.

    A text has the labels of its picture. Whoever has no label is compared with nobody.
    """

    queries: sparse.csr_matrix
    items: sparse.csr_matrix

    def __post_init__(self) -> None:
        if self.queries.shape[1] != self.items.shape[1]:
            raise ValueError(f"queries {self.queries.shape} and items {self.items.shape} differ")

    @cached_property
    def shared(self) -> Pairwise:
        """How many labels each query has in common with each item."""
        by_label = self.items.tocsc()
        rows = (_wide(self.queries.indptr), self.queries.indices.astype(np.int32))
        columns = (_wide(by_label.indptr), by_label.indices.astype(np.int32))
        found = np.zeros((self.queries.shape[0], self.items.shape[0]), np.int32)

        def work(first: int, last: int) -> None:
            _add(*rows, *columns, found, first, last)

        spread(len(found), found.shape[1], work)
        return found

    @cached_property
    def of_queries(self) -> Int64[np.ndarray, " queries"]:
        """How many labels each query has."""
        return np.diff(_wide(self.queries.indptr))

    @cached_property
    def of_items(self) -> Int64[np.ndarray, " items"]:
        """How many labels each item has."""
        return np.diff(_wide(self.items.indptr))


def _wide(numbers: np.ndarray) -> Int64[np.ndarray, " bounds"]:
    """Of one kind, whatever kind a sparse matrix holds: loops are compiled only once."""
    return numbers.astype(np.int64)


@compiled
def _add(
    starts: np.ndarray,
    labels: np.ndarray,
    bounds: np.ndarray,
    items: np.ndarray,
    found: np.ndarray,
    first: int,
    last: int,
) -> None:
    for query in range(first, last):
        row = found[query]
        for label in labels[starts[query] : starts[query + 1]]:
            for item in items[bounds[label] : bounds[label + 1]]:
                row[item] += 1

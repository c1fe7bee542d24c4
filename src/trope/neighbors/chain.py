"""Steps from rows to their neighbors as a sparse matrix: A has 1/N at the N neighbors of each row.

Two steps, A A, reach the neighbors of neighbors, each as often as a path leads there, the row
itself included. What is measured along these steps is in `trope.weights.neighborhood`.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from trope.errors import DataError
from trope.neighbors.table import NeighborTable

Scores: TypeAlias = Float[np.ndarray, " rows"]


@dataclass(frozen=True, eq=False)
class Chain:
    """Steps from rows to their neighbors; each row of the matrix sums to one, or is empty."""

    matrix: csr_array

    @classmethod
    def of(cls, table: NeighborTable, dtype: type[np.floating] = np.float32) -> Chain:
        """Equal steps to each neighbor in a table; a step out of it is refused."""
        if not table.sound:  # scipy would read and write outside its memory
            raise DataError(f"a neighbor is none of the table's {len(table):,} rows")
        counts = table.counts
        ends = np.concatenate([[0], np.cumsum(counts)])
        there = np.asarray(table.ids)
        weights = np.repeat(1 / np.maximum(counts, 1), counts).astype(dtype)
        return cls(csr_array((weights, there[there >= 0], ends), shape=(len(table), len(table))))

    @property
    def counts(self) -> Int[np.ndarray, " rows"]:
        """How many neighbors each row has."""
        return np.diff(self.matrix.indptr)

    @cached_property
    def returning(self) -> Scores:
        """(A A)_ii: how likely two steps lead back."""
        return np.asarray(self.matrix.multiply(self.matrix.T).sum(axis=1))

    @cached_property
    def arriving(self) -> Scores:
        """How likely two steps lead anywhere; less than one after a row without neighbors."""
        return np.asarray(self.matrix @ self.matrix.sum(axis=1))

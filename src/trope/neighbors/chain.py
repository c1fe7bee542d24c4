"""Neighbors of neighbors as products with a sparse matrix (paper 001, Sec. 3.2), in linear time.

With A the matrix that has 1/N at the N neighbors of each row, and E the embeddings s_i as rows:

    (1/N^2) sum_{r,c} <s'_r, s'_c>                      = |(A E)_i|^2        diversity, Eq. 4
    (1/N^2) sum over neighbors of neighbors <s'', s_i>  = <(A A E)_i, s_i>   discrepancy, Eq. 3

Neighbors of neighbors are counted as often as they are reached, the row itself included. Where rows
have different numbers of neighbors, the second is the mean over neighbors of the means over theirs.
The signs and weights made of these scores are not decided here.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Int
from scipy.sparse import csr_array

from trope.errors import DataError, UsageError
from trope.neighbors.table import NeighborTable

Bank: TypeAlias = Float[np.ndarray, "rows d"]
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

    def average(self, bank: Bank) -> Bank:
        """A E: the mean of each row's neighbors, zero without any."""
        if bank.ndim != 2 or len(bank) != self.matrix.shape[0]:
            wanted = f"a vector for each of the table's {self.matrix.shape[0]:,} rows"
            raise UsageError(f"bank: {wanted} is wanted, found shape {bank.shape}")
        return np.asarray(self.matrix @ bank)

    def diversity(self, bank: Bank, *, itself: bool = True) -> Scores:
        """The mean product of two neighbors; without `itself`, of two different ones.

        Low means that the neighbors differ. Zero where there are not enough neighbors.
        """
        means = self.average(bank)
        squares = np.einsum("nd,nd->n", means, means)
        if itself:
            return np.asarray(squares)
        single = self.average(_squares(bank)[:, None])[:, 0]
        counts = self.counts.astype(bank.dtype)
        return _divided(counts * squares - single, counts - 1)

    def discrepancy(self, bank: Bank, *, itself: bool = True) -> Scores:
        """The mean product of a row and its neighbors' neighbors; without `itself`, of the others.

        Low means that the row lies apart from where its neighbors lie. Zero without any.
        """
        reached = self.average(self.average(bank))
        products = np.einsum("nd,nd->n", reached, bank)
        if itself:
            return _divided(products, self.arriving)
        return _divided(products - self.returning * _squares(bank), self.arriving - self.returning)


def _squares(bank: Bank) -> Scores:
    return np.asarray(np.einsum("nd,nd->n", bank, bank))


def _divided(sums: Scores, counts: Scores) -> Scores:
    """Means, and zero of nothing; what rounding left of nothing counts as nothing."""
    some = counts > 1e-6
    return np.where(some, sums / np.where(some, counts, 1), 0)

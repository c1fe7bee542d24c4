"""What a metric is asked about: the scores of some queries with every item, and what is right."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar, Protocol, TypeAlias, runtime_checkable

import numpy as np
from jaxtyping import Float32, Float64, Int, Int32
from scipy import sparse

from trope.errors import DataError, UsageError
from trope.metrics.counting import Counts, counted, counted_in_order
from trope.metrics.labels import Labels
from trope.metrics.sorting import finite, ordered

Scores: TypeAlias = Float32[np.ndarray, "queries items"]
Values: TypeAlias = Float64[np.ndarray, " queries"]
Relevance: TypeAlias = Callable[[], Scores]

MANY = 200  # right items a query from which on sorting is cheaper than counting

_NONE: Mapping[str, Relevance] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Block:
    """Scores of some queries with the whole gallery, and what metrics ask of them, each made once.

    `rows` are the numbers of the queries, `right` marks the items that are right for each (any
    number of them, also none) and must not count as wrong. Items of equal score stand in the order
    of `priority` in rank lists; counts take the expectation over all their orders. `relevance`
    gives, by the name of a caption measure, how relevant each item is; it is made when asked for.
    `fewest` is the smallest number of wrong items that any query of all blocks has, and `purpose`
    tells the random draws of these queries from those of others with the same numbers.
    """

    rows: Int[np.ndarray, " queries"]
    scores: Scores
    right: sparse.csr_matrix
    priority: Int[np.ndarray, " items"]
    labels: Labels | None = None
    relevance: Mapping[str, Relevance] = field(default_factory=lambda: _NONE)
    fewest: int | None = None
    purpose: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.right.shape != self.scores.shape:
            raise ValueError(f"{self.right.shape} right items, {self.scores.shape} scores")
        self.right.sum_duplicates()
        self.right.eliminate_zeros()
        _refuse_strange(self.scores, self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def items(self) -> int:
        """How many items the gallery has."""
        return int(self.scores.shape[1])

    @property
    def positives(self) -> Int[np.ndarray, " queries"]:
        """How many items are right for each query."""
        return np.diff(self.right.indptr)

    @cached_property
    def order(self) -> Int32[np.ndarray, "queries items"]:
        """The items of each query, best first."""
        return ordered(self.scores, self.priority)

    @cached_property
    def counts(self) -> Counts:
        """Where the right items stand; sorted for only where there are many, or it was done."""
        if "order" in self.__dict__ or self.right.nnz > MANY * len(self):
            return counted_in_order(self.scores, self.right, self.order)
        return counted(self.scores, self.right, self.priority)

    def labeled(self, metric: str) -> Labels:
        """The labels, which this metric cannot do without."""
        if self.labels is None:
            raise UsageError(f"{metric}: the data has no labels")
        return self.labels


@runtime_checkable
class Metric(Protocol):
    """One number a query under each of its names; NaN where a query does not count.

    `needs` says what a block must have beside scores and right items: "labels", "relevance".
    """

    needs: ClassVar[frozenset[str]]

    def __call__(self, block: Block) -> Mapping[str, Values]:
        """Measure the queries of a block."""


def _refuse_strange(scores: Scores, rows: Int[np.ndarray, " queries"]) -> None:
    """A score that is no finite number would win or lose every comparison."""
    fine = finite(scores)
    if not fine.all():
        first = int(np.flatnonzero(~fine)[0])
        found = scores[first][~np.isfinite(scores[first])][0]
        raise DataError(f"query {rows[first]}: a score is {found}; scores must be finite numbers")

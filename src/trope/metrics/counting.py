"""Where the right items of each query stand: counts over its scores, without sorting them.

A wrong item is one that is not right for the query, so another picture of the same text never
stands in the way. One pass over a query's scores for each of its right items costs far less than
sorting them; where the order is there already, one walk through it finds all counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from jaxtyping import Float, Float32, Float64, Int, Int32
from scipy import sparse

from trope.compiled import compiled, spread

Scores = Float32[np.ndarray, "queries items"]
Entries = Int32[np.ndarray, " entries"]
Values = Float64[np.ndarray, " queries"]


@dataclass(frozen=True, eq=False)
class Places:
    """For each right item: the wrong items of its query, those that score higher, and the same."""

    others: Int[np.ndarray, " entries"]
    above: Int[np.ndarray, " entries"]
    tied: Int[np.ndarray, " entries"]

    def __len__(self) -> int:
        return len(self.others)


@dataclass(frozen=True, eq=False)
class Counts:
    """For each right item, query after query: the wrong items above it, and those of its score.

    `places` is where it stands among all items, from 0, equal scores by priority. The right items
    of query i are the entries from `starts[i]` to `starts[i + 1]`; `wrong` counts its wrong items.
    """

    above: Entries
    tied: Entries
    places: Entries
    starts: Int[np.ndarray, " bounds"]
    wrong: Int[np.ndarray, " queries"]

    def __len__(self) -> int:
        return len(self.wrong)

    @cached_property
    def right(self) -> Int[np.ndarray, " queries"]:
        """How many right items each query has."""
        return np.diff(self.starts)

    @cached_property
    def owners(self) -> Int[np.ndarray, " entries"]:
        """The query of each right item."""
        return np.repeat(np.arange(len(self)), self.right)

    @cached_property
    def each(self) -> Places:
        """Every right item on its own."""
        return Places(self.wrong[self.owners], self.above, self.tied)

    @cached_property
    def ascending(self) -> Int[np.ndarray, " entries"]:
        """The places of the right items of each query, best first."""
        return self.places[np.lexsort((self.places, self.owners))]

    def means(self, values: Float[np.ndarray, " entries"]) -> Values:
        """The mean over the right items of each query; NaN where there is none."""
        sums = np.bincount(self.owners, values, minlength=len(self))
        return np.asarray(sums / np.where(self.right > 0, self.right, np.nan))

    @cached_property
    def best(self) -> Best:
        """The best right item of each query."""
        some = np.flatnonzero(self.right)
        keys = self.above * (self.wrong.max(initial=0) + 1) + self.tied.astype(np.int64)
        lowest = np.zeros(len(self), np.int64)
        if len(some):
            lowest[some] = np.minimum.reduceat(keys, self.starts[some])
        first = keys == lowest[self.owners]
        nowhere = np.where(self.right > 0, 0.0, np.nan)
        above, tied = np.divmod(lowest, self.wrong.max(initial=0) + 1)
        equals = np.bincount(self.owners[first], minlength=len(self))
        return Best(above + nowhere, tied + nowhere, equals + nowhere)


@dataclass(frozen=True, eq=False)
class Best:
    """Of the best right item of each query: wrong items above it, and of its score; NaN for none.

    `equals` counts the right items of that score where wrong ones share it.
    """

    above: Values
    tied: Values
    equals: Values


def counted(
    scores: Scores, right: sparse.csr_matrix, priority: Int[np.ndarray, " items"]
) -> Counts:
    """Count for each right item, one pass over the scores of its query each."""
    return _filled(_count, scores, right, np.ascontiguousarray(priority, np.int64))


def counted_in_order(
    scores: Scores, right: sparse.csr_matrix, order: Int32[np.ndarray, "queries items"]
) -> Counts:
    """The same counts from the items of each query, best first: one walk a query."""
    return _filled(_walk, scores, right, order)


def _filled(
    count: Callable[..., None], scores: Scores, right: sparse.csr_matrix, by: np.ndarray
) -> Counts:
    """Counts of all right items, on all cores; of one kind of numbers, so compiled only once."""
    starts, items = right.indptr.astype(np.int64), right.indices.astype(np.int32)
    above, tied, places = (np.empty(len(items), np.int32) for _ in range(3))
    rows = np.ascontiguousarray(scores)

    def work(first: int, last: int) -> None:
        count(rows, starts, items, by, above, tied, places, first, last)

    spread(len(scores), scores.shape[1], work)
    return Counts(above, tied, places, starts, scores.shape[1] - np.diff(starts))


@compiled
def _count(
    scores: np.ndarray,
    starts: np.ndarray,
    items: np.ndarray,
    priority: np.ndarray,
    above: np.ndarray,
    tied: np.ndarray,
    places: np.ndarray,
    first: int,
    last: int,
) -> None:
    for query in range(first, last):
        row = scores[query]
        mine = items[starts[query] : starts[query + 1]]
        for k in range(len(mine)):
            score = row[mine[k]]
            higher, equal = np.int32(0), np.int32(0)
            for j in range(len(row)):
                higher += np.int32(row[j] > score)
                equal += np.int32(row[j] == score)
            before = np.int32(0)
            if equal > 1:
                for j in range(len(row)):
                    before += np.int32(row[j] == score and priority[j] < priority[mine[k]])
            entry = starts[query] + k
            places[entry] = higher + before
            for item in mine:
                higher -= np.int32(row[item] > score)
                equal -= np.int32(row[item] == score)
            above[entry], tied[entry] = higher, equal


@compiled
def _walk(
    scores: np.ndarray,
    starts: np.ndarray,
    items: np.ndarray,
    order: np.ndarray,
    above: np.ndarray,
    tied: np.ndarray,
    places: np.ndarray,
    first: int,
    last: int,
) -> None:
    entry_of = np.full(scores.shape[1], -1, np.int32)
    for query in range(first, last):
        row = scores[query]
        for entry in range(starts[query], starts[query + 1]):
            entry_of[items[entry]] = entry
        place, wrong = 0, 0
        while place < len(row):
            score, start, passed = row[order[query, place]], place, wrong
            while place < len(row) and row[order[query, place]] == score:
                wrong += entry_of[order[query, place]] < 0
                place += 1
            for k in range(start, place):
                entry = entry_of[order[query, k]]
                if entry >= 0:
                    above[entry], tied[entry], places[entry] = passed, wrong - passed, k
        for entry in range(starts[query], starts[query + 1]):
            entry_of[items[entry]] = -1

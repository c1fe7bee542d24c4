"""c-way tasks: the right item among c - 1 wrong ones, as the exact expectation over all draws.

The task of Thomas and Kovashka (ECCV 2020, Sec. 4). There one random draw is made for each query,
which adds about a point of noise on a thousand queries; the numbers of wrong items that score
higher, or the same, give the expectation itself. With G wrong items, w of them above the right one
and t of its score, a task holds a of those above and b of the tied ones with chance

    C(w, a) C(t, b) C(G - w - t, c - 1 - a - b) / C(G, c - 1)

and the right item is then among the first k with chance min(1, (k - a) / (b + 1)).

A query with several right items is asked for each in turn, and its score is their mean.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Bool, Float64, Int
from scipy.special import gammaln

from trope.errors import DataError, UsageError
from trope.metrics.block import Block, Values
from trope.metrics.counting import Counts, Places
from trope.runtime import generator

WAYS = (5, 20, 100)
CUTS = (1, 3)

Chances = Float64[np.ndarray, " entries"]


def recall_in_task(places: Places, ways: int, k: int = 1) -> Chances:
    """The chance that the right item is among the k best of a task of so many items."""
    _refuse(places, ways)
    total = np.zeros(len(places))
    for above in range(min(k, ways)):
        for tied in range(min(ways - above, places.tied.max(initial=0) + 1)):
            some = (places.above >= above) & (places.tied >= tied)
            first = min(1.0, (k - above) / (tied + 1))
            total[some] += first * _chance(places, some, above, tied, ways - 1)
    return np.minimum(total, 1.0)


def mean_rank_in_task(places: Places, ways: int) -> Chances:
    """The expected number of items before the right one, which is 0 for the best."""
    _refuse(places, ways)
    before = places.above + places.tied / 2
    return np.asarray((ways - 1) * before / places.others)


def drawn_ranks(
    counts: Counts,
    rows: Int[np.ndarray, " queries"],
    ways: int,
    draws: int,
    seed: int,
    purpose: Sequence[str] = (),
) -> Int[np.ndarray, "draws entries"]:
    """The place of each right item in random tasks; a query's draws are its own in any block."""
    _refuse(counts.each, ways)
    ranks = np.empty((draws, len(counts.above)), np.int64)
    for query, row in enumerate(rows):
        mine = slice(counts.starts[query], counts.starts[query + 1])
        above, tied, wrong = counts.above[mine], counts.tied[mine], counts.wrong[query]
        random = generator(seed, "tasks", *purpose, str(ways), str(row))
        shape = draws, len(above)
        higher = random.hypergeometric(above, wrong - above, ways - 1, shape)
        same = random.hypergeometric(tied, wrong - above - tied, ways - 1 - higher, shape)
        ranks[:, mine] = higher + random.integers(0, same + 1)
    return ranks


def fitting(ways: Iterable[int], wrong: int) -> tuple[int, ...]:
    """The tasks that a query with so many wrong items can be given."""
    return tuple(way for way in ways if way - 1 <= wrong)


@dataclass(frozen=True)
class _Tasks:
    """Tasks of `ways` items; exactly, or with a number of random `draws` for each right item.

    Tasks with more items than the gallery has for some query are left out; `strict` refuses them.
    """

    ways: tuple[int, ...] = WAYS
    draws: int = 0
    seed: int = 0
    strict: bool = False

    needs: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        if any(way < 2 for way in self.ways):
            raise UsageError(f"ways: a task needs at least 2 items, found {min(self.ways)}")
        if self.draws < 0:
            raise UsageError(f"draws: 0 (exact) or more, found {self.draws}")

    def possible(self, block: Block) -> tuple[int, ...]:
        """The tasks that every query can be given."""
        if self.strict:
            return self.ways
        least = int(block.counts.wrong.min(initial=block.items))
        return fitting(self.ways, least if block.fewest is None else block.fewest)

    def drawn(self, block: Block, ways: int) -> Int[np.ndarray, "draws entries"]:
        """Places in random tasks."""
        return drawn_ranks(block.counts, block.rows, ways, self.draws, self.seed, block.purpose)


@dataclass(frozen=True)
class TaskRecall(_Tasks):
    """`recall@k/c-way`: how often the right item is among the k best of c."""

    cuts: tuple[int, ...] = CUTS

    def __call__(self, block: Block) -> dict[str, Values]:
        """One number a query for each k and c; k below c."""
        return {
            f"recall@{k}/{ways}-way": self._recall(block, ways, k)
            for ways in self.possible(block)
            for k in self.cuts
            if k < ways
        }

    def _recall(self, block: Block, ways: int, k: int) -> Values:
        if not self.draws:
            return block.counts.means(recall_in_task(block.counts.each, ways, k))
        return block.counts.means((self.drawn(block, ways) < k).mean(axis=0))


@dataclass(frozen=True)
class TaskRank(_Tasks):
    """`mean-rank/c-way`: how many items stand before the right one among c."""

    def __call__(self, block: Block) -> dict[str, Values]:
        """One number a query for each c."""
        return {f"mean-rank/{ways}-way": self._rank(block, ways) for ways in self.possible(block)}

    def _rank(self, block: Block, ways: int) -> Values:
        if not self.draws:
            return block.counts.means(mean_rank_in_task(block.counts.each, ways))
        return block.counts.means(self.drawn(block, ways).mean(axis=0))


def _chance(
    places: Places, some: Bool[np.ndarray, " entries"], above: int, tied: int, drawn: int
) -> Float64[np.ndarray, " some"]:
    """The chance to draw so many wrong items above some right ones, and so many of their score."""
    higher, same, wrong = places.above[some], places.tied[some], places.others[some]
    rest, below = drawn - above - tied, wrong - higher - same
    logs = _choose(higher, above) + _choose(same, tied) + _choose(below, rest)
    return np.where(rest <= below, np.exp(logs - _choose(wrong, drawn)), 0.0)


def _choose(n: Int[np.ndarray, " some"], k: int) -> Float64[np.ndarray, " some"]:
    """The logarithm of n over k; what is impossible is left to the caller."""
    safe = np.maximum(n, k)
    return np.asarray(gammaln(safe + 1) - gammaln(k + 1) - gammaln(safe - k + 1))


def _refuse(places: Places, ways: int) -> None:
    fewest = int(places.others.min(initial=ways))
    if ways < 2:
        raise UsageError(f"ways: a task needs at least 2 items, found {ways}")
    if fewest < ways - 1:
        raise DataError(f"a query has only {fewest} wrong items; {ways}-way tasks need {ways - 1}")

"""Normalized discounted cumulative gain with shared labels as gain (semantic sharing, IJCAI 2021).

    DCG@K = sum over the places r <= K, from 1, of gain(r) / log2(r + 1)
    NDCG@K = DCG@K / ideal DCG@K

The gain is linear: how many labels the item shares with the query. The ideal is the best order of
the whole gallery. A query that shares no label with any item has no ideal and does not count; the
paper's code gives it 0, which the option `empty` brings back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int32

from trope.compiled import compiled, spread
from trope.errors import UsageError
from trope.metrics.block import Block, Values
from trope.metrics.sorting import top

CUTS = (500, None)

Gains = Int32[np.ndarray, "queries items"]


def ndcg(
    gains: Gains, first: Int32[np.ndarray, "queries places"], cuts: Sequence[int], empty: float
) -> Float64[np.ndarray, "cuts queries"]:
    """NDCG at each cut from the best items of each query, at least as many as the last cut."""
    found = np.empty((len(cuts), len(gains)))
    places = np.minimum(np.sort(np.asarray(cuts, np.int64)), gains.shape[1])
    total = np.cumsum(1 / np.log2(np.arange(gains.shape[1]) + 2.0))
    discounts = np.concatenate([[0.0], total])

    def work(start: int, stop: int) -> None:
        _gather(gains, first, discounts, places, found, start, stop)

    spread(len(gains), gains.shape[1], work)
    found[np.isnan(found)] = empty
    return found[np.argsort(np.argsort(cuts))]


@dataclass(frozen=True)
class NDCG:
    """`ndcg@K`, and `ndcg` over the whole gallery where the cut is None."""

    cuts: tuple[int | None, ...] = CUTS
    empty: float = float("nan")

    needs: ClassVar[frozenset[str]] = frozenset({"labels"})

    def __post_init__(self) -> None:
        if any(cut is not None and cut < 1 for cut in self.cuts):
            raise UsageError("cuts: at least 1, or none for the whole gallery")

    def __call__(self, block: Block) -> dict[str, Values]:
        """One number a query for each cut; those that reach the gallery's size are left out."""
        names = {
            "ndcg" if cut is None else f"ndcg@{cut}": block.items if cut is None else cut
            for cut in self.cuts
            if cut is None or cut < block.items
        }
        cuts = list(names.values())
        if not cuts:
            return {}
        gains = block.labeled("ndcg").shared
        values = ndcg(gains, _first(block, max(cuts)), cuts, self.empty)
        return dict(zip(names, values, strict=True))


def _first(block: Block, places: int) -> Int32[np.ndarray, "queries places"]:
    """The best items of each query; the whole order only where it is asked for, or there."""
    if places < block.items and "order" not in block.__dict__:
        return top(block.scores, places, block.priority)
    return block.order


@compiled
def _gather(
    gains: np.ndarray,
    first: np.ndarray,
    discounts: np.ndarray,
    cuts: np.ndarray,
    found: np.ndarray,
    start: int,
    stop: int,
) -> None:
    """NDCG at ascending cuts; `discounts` are added up: equal gains in a row are one difference."""
    for query in range(start, stop):
        row = gains[query]
        having = np.bincount(row)
        total, place = 0.0, 0
        for k in range(len(cuts)):
            while place < cuts[k]:
                gain = row[first[query, place]]
                if gain > 0:
                    total += gain * (discounts[place + 1] - discounts[place])
                place += 1
            ideal, passed = 0.0, 0
            for gain in range(len(having) - 1, 0, -1):
                reached = min(passed + having[gain], cuts[k])
                ideal += gain * (discounts[reached] - discounts[passed])
                passed = reached
            found[k, query] = total / ideal if ideal > 0 else np.nan

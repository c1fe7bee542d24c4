"""Recall in the full gallery: is a right item among the first K? (VSE++, BMVC 2018, Sec. 4.)

A query counts as answered when any of its right items is found. Equal scores stand in random
order: with s places left below the w wrong items above, and t wrong and m right items of the best
right item's score, recall@K is 1 - C(t, s) / C(t + m, s).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import gammaln

from trope.errors import UsageError
from trope.metrics.block import Block, Values
from trope.metrics.counting import Best

CUTS = (1, 5, 10, 50)
SUMMED = (1, 5, 10)


def recall_at(best: Best, k: int) -> Values:
    """The chance that a right item is among the first k."""
    left = np.clip(k - best.above, 0, None)
    missed = left <= best.tied
    free = np.where(missed, best.tied - left, 0.0)
    logs = _factorial(best.tied) - _factorial(free)
    logs -= _factorial(best.tied + best.equals) - _factorial(free + best.equals)
    chance = 1 - np.where(missed, np.exp(logs), 0.0)
    return np.asarray(np.where(np.isnan(best.above), np.nan, chance))


@dataclass(frozen=True)
class Recall:
    """`recall@K` for some K; those that reach the size of the gallery say nothing: left out."""

    cuts: tuple[int, ...] = CUTS

    needs: ClassVar[frozenset[str]] = frozenset()

    def __post_init__(self) -> None:
        if any(k < 1 for k in self.cuts):
            raise UsageError(f"cuts: at least 1, found {min(self.cuts)}")

    def __call__(self, block: Block) -> dict[str, Values]:
        """One number a query for each K."""
        best = block.counts.best
        return {f"recall@{k}": recall_at(best, k) for k in self.cuts if k < block.items}


def _factorial(n: Values) -> Values:
    """The logarithm of n!"""
    return np.asarray(gammaln(n + 1))

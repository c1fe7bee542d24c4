"""Ranks in the full gallery: where the best right item stands, from 1 (VSE++, BMVC 2018).

Wrong items of its score stand before it or behind it with equal chance: with m right ones among
them, t / (m + 1) of the t wrong ones come first on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from trope.metrics.block import Block, Values
from trope.metrics.counting import Best


def best_rank(best: Best) -> Values:
    """The expected place of the best right item, from 1."""
    return np.asarray(1 + best.above + best.tied / (best.equals + 1))


@dataclass(frozen=True)
class MedianRank:
    """`median-rank`: the place that half of the queries reach; it is taken over all queries."""

    needs: ClassVar[frozenset[str]] = frozenset()

    def __call__(self, block: Block) -> dict[str, Values]:
        """The rank of each query."""
        return {"median-rank": best_rank(block.counts.best)}


@dataclass(frozen=True)
class MeanRank:
    """`mean-rank`: the mean place, which a few lost queries decide."""

    needs: ClassVar[frozenset[str]] = frozenset()

    def __call__(self, block: Block) -> dict[str, Values]:
        """The rank of each query."""
        return {"mean-rank": best_rank(block.counts.best)}

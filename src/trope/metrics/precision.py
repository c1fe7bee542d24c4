"""Precision over all right items of a query: R-precision, mAP@R and mAP.

With R right items at the places p_1 < ... < p_R, from 1, the precision at the i-th is i / p_i:

    R-precision = |{i : p_i <= R}| / R
    mAP@R       = (1 / R) * sum of i / p_i over all p_i <= R   (Musgrave et al., ECCV 2020)
    mAP         = (1 / R) * sum of i / p_i over all i

The places of the right items are counted: nothing is sorted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64

from trope.metrics.block import Block, Values
from trope.metrics.counting import Counts


def r_precision(counts: Counts) -> Values:
    """The share of right items among the first R, where R is how many there are."""
    within = counts.ascending < counts.right[counts.owners]
    return counts.means(within.astype(np.float64))


def map_at_r(counts: Counts) -> Values:
    """R-precision that also asks for right items to stand first."""
    within = counts.ascending < counts.right[counts.owners]
    return counts.means(np.where(within, _precisions(counts), 0.0))


def average_precision(counts: Counts) -> Values:
    """The mean precision at the places of all right items."""
    return counts.means(_precisions(counts))


def _precisions(counts: Counts) -> Float64[np.ndarray, " entries"]:
    """The precision at the place of each right item, best first in each query."""
    found = np.arange(len(counts.owners)) - counts.starts[counts.owners] + 1
    return np.asarray(found / (counts.ascending + 1.0))


@dataclass(frozen=True)
class RPrecision:
    """`r-precision`: the share of right items among as many as there are."""

    needs: ClassVar[frozenset[str]] = frozenset()

    def __call__(self, block: Block) -> dict[str, Values]:
        """One number a query."""
        return {"r-precision": r_precision(block.counts)}


@dataclass(frozen=True)
class MAPAtR:
    """`map@r`: average precision, cut at the number of right items."""

    needs: ClassVar[frozenset[str]] = frozenset()

    def __call__(self, block: Block) -> dict[str, Values]:
        """One number a query."""
        return {"map@r": map_at_r(block.counts)}


@dataclass(frozen=True)
class MAP:
    """`map`: average precision over the whole gallery."""

    needs: ClassVar[frozenset[str]] = frozenset()

    def __call__(self, block: Block) -> dict[str, Values]:
        """One number a query."""
        return {"map": average_precision(block.counts)}

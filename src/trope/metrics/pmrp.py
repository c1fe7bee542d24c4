"""Plausible-match R-precision (PCME, CVPR 2021, Sec. 4.1).

Two items match plausibly at ζ when at most ζ labels set them apart: |A| + |B| - 2 |A ∩ B| <= ζ.
With R plausible items in the gallery, a query scores the share of them among the first R. PMRP is
the mean over ζ = 0, 1, 2. Queries and items without labels are left out of queries and gallery.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int32

from trope.compiled import compiled, spread
from trope.errors import UsageError
from trope.metrics.block import Block, Values
from trope.metrics.labels import Labels

APART = (0, 1, 2)


def plausible_precision(
    labels: Labels, order: Int32[np.ndarray, "queries items"], apart: tuple[int, ...]
) -> Float64[np.ndarray, "apart queries"]:
    """R-precision for each number of labels that may differ; NaN where nothing is plausible."""
    found = np.empty((len(apart), len(order)))
    shared, queries, items = labels.shared, labels.of_queries, labels.of_items
    most = np.asarray(apart, np.int64)

    def work(first: int, last: int) -> None:
        _match(shared, queries, items, order, most, found, first, last)

    spread(len(order), order.shape[1], work)
    return found


@dataclass(frozen=True)
class PMRP:
    """`pmrp`, the mean over ζ, and `pmrp/ζ`; under another `name` for labels other than COCO's."""

    apart: tuple[int, ...] = APART
    name: str = "pmrp"

    needs: ClassVar[frozenset[str]] = frozenset({"labels"})

    def __post_init__(self) -> None:
        if not self.apart or min(self.apart) < 0:
            raise UsageError("apart: numbers of labels that may differ, none below 0")

    def __call__(self, block: Block) -> dict[str, Values]:
        """The mean over ζ, and each."""
        found = plausible_precision(block.labeled(self.name), block.order, self.apart)
        each = {f"{self.name}/{most}": found[i] for i, most in enumerate(self.apart)}
        return {self.name: _mean(found)} | each


def _mean(found: Float64[np.ndarray, "apart queries"]) -> Values:
    """The mean over ζ, of those where something is plausible."""
    there = (~np.isnan(found)).sum(axis=0)
    return np.asarray(np.nansum(found, axis=0) / np.where(there > 0, there, np.nan))


@compiled
def _match(
    shared: np.ndarray,
    queries: np.ndarray,
    items: np.ndarray,
    order: np.ndarray,
    apart: np.ndarray,
    found: np.ndarray,
    first: int,
    last: int,
) -> None:
    plausible, hits = np.empty(len(apart), np.int64), np.empty(len(apart), np.int64)
    for query in range(first, last):
        plausible[:], hits[:] = 0, 0
        if queries[query] > 0:
            for item in range(len(items)):
                if items[item] > 0:
                    distance = queries[query] + items[item] - 2 * shared[query, item]
                    for k in range(len(apart)):
                        plausible[k] += distance <= apart[k]
        most, place, passed = plausible.max(), 0, 0
        while passed < most:
            item = order[query, place]
            place += 1
            if items[item] > 0:
                distance = queries[query] + items[item] - 2 * shared[query, item]
                for k in range(len(apart)):
                    hits[k] += distance <= apart[k] and passed < plausible[k]
                passed += 1
        for k in range(len(apart)):
            found[k, query] = hits[k] / plausible[k] if plausible[k] else np.nan

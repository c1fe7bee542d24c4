"""Mean average precision where what shares a label is right (SemanticMap-style credit).

An item counts as right when it shares a label with the query's own item, whichever pair it came
from: DSCMR (CVPR 2019) and the label-wise literature score this way, over the whole gallery.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Int32

from trope.compiled import compiled, spread
from trope.metrics.block import Block, Values

Pairwise = Int32[np.ndarray, "queries items"]


def semantic_average_precision(shared: Pairwise, order: Pairwise) -> Values:
    """The mean precision at the places of all items that share a label; NaN where none does."""
    found = np.empty(len(shared))
    spread(
        len(shared),
        shared.shape[1],
        lambda first, last: _average(shared, order, found, first, last),
    )
    return found


@dataclass(frozen=True)
class SemanticMAP:
    """`semantic-map`: average precision over the items that share a label."""

    needs: ClassVar[frozenset[str]] = frozenset({"labels"})

    def __call__(self, block: Block) -> dict[str, Values]:
        """One number a query."""
        shared = block.labeled("semantic-map").shared
        return {"semantic-map": semantic_average_precision(shared, block.order)}


@compiled
def _average(
    shared: np.ndarray, order: np.ndarray, found: np.ndarray, first: int, last: int
) -> None:
    for query in range(first, last):
        hits, total = 0, 0.0
        for place in range(order.shape[1]):
            if shared[query, order[query, place]] > 0:
                hits += 1
                total += hits / (place + 1)
        found[query] = total / hits if hits else np.nan

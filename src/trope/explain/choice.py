"""Which pairs are worth showing: whose neighbors look least alike, and whose look most alike."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from trope.explain.meaning import Near

LEAST = "Shown because what means alike looks least alike here."
MOST = "Shown because what means alike looks most alike here."


def instructive(near: Near, ranks: Int[np.ndarray, "queries k"], count: int) -> dict[int, str]:
    """Rows and the reason for each, in the order to show them; no row appears among another's.

    The mean rank of a row's neighbors decides; rows with fewer neighbors than others are left out.
    """
    counts = (near.ids >= 0).sum(axis=1)
    full = np.flatnonzero((counts == counts.max(initial=0)) & (counts > 0))
    order = full[np.argsort(ranks[full].sum(axis=1), kind="stable")]
    chosen: dict[int, str] = {}
    shown: set[int] = set()
    _take(near, order[::-1], (count + 1) // 2, LEAST, chosen, shown)
    _take(near, order, count - len(chosen), MOST, chosen, shown)
    return chosen


def _take(
    near: Near,
    order: Int[np.ndarray, " places"],
    count: int,
    why: str,
    chosen: dict[int, str],
    shown: set[int],
) -> None:
    """The first `count` of an order that bring something new."""
    wanted = len(chosen) + count
    for place in order.tolist():
        if len(chosen) == wanted:
            return
        row, neighbors = int(near.rows[place]), near.ids[place].tolist()
        if row not in shown and not chosen.keys() & set(neighbors):
            chosen[row] = why
            shown.update([row, *neighbors])

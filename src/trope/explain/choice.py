"""Which pairs are worth showing: whose neighbors look least alike, and whose look most alike."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int

from trope.explain.meaning import Near

LEAST = "Shown because what means alike looks least alike here."
MOST = "Shown because what means alike looks most alike here."


def instructive(near: Near, ranks: Int[np.ndarray, "queries k"], count: int) -> dict[int, str]:
    """Rows and the reason for each, in the order to show them: the two ends of one order.

    The mean rank of a row's neighbors decides; rows with fewer neighbors than others are left out.
    """
    counts = (near.ids >= 0).sum(axis=1)
    full = np.flatnonzero((counts == counts.max(initial=0)) & (counts > 0))
    order = near.rows[full[np.argsort(ranks[full].sum(axis=1), kind="stable")]].tolist()
    count = min(count, len(order))
    least, most = order[::-1][: (count + 1) // 2], order[: count // 2]
    return dict.fromkeys(least, LEAST) | dict.fromkeys(most, MOST)

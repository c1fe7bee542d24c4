"""What is found for every query, whether it is right, and which of two causes a wrong one has.

Right is what shares a label with the query. The paper tells two causes of wrong results apart:
super-class confusion, where a wrong item has a label of the same super-class as one of the query's,
and semantic confusion, which is the rest. Of pictures without labels and their texts nobody knows
what is right: they neither ask nor are found.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
from jaxtyping import Bool, Int
from scipy import sparse

from trope.evaluation.embedded import Embedded
from trope.evaluation.gallery import Side
from trope.evaluation.measuring import direction_of
from trope.experiments.label_failures.kinds import classes
from trope.metrics.sorting import tie_priority, top

BLOCK = 512  # queries looked at together


@dataclass(frozen=True, eq=False)
class Found:
    """The first items for each query of one side; which are right, which of the same super-class.

    `likely` is how often, of all items that are wrong for a query, one is of the same super-class:
    what chance alone gives; None where no item is wrong for any query.
    """

    items: Int[np.ndarray, "queries k"]
    right: Bool[np.ndarray, "queries k"]
    alike: Bool[np.ndarray, "queries k"]
    likely: float | None

    def shares(self) -> dict[str, Any]:
        """How many results are wrong, and how many of those by super-class confusion."""
        wrong = ~self.right
        count, super_class = int(wrong.sum()), int((wrong & self.alike).sum())
        return {
            "queries": len(wrong),
            "results": int(wrong.size),
            "wrong": count,
            "super_class": super_class,
            "rest": count - super_class,
            "chance": self.likely,
        }


def labeled(embedded: Embedded) -> Embedded:
    """The pictures that have labels, and their texts."""
    assert embedded.gallery.labels is not None
    return embedded.take(np.flatnonzero(np.diff(embedded.gallery.labels.indptr)))


def found(embedded: Embedded, side: Side, k: int) -> Found:
    """The first `k` items of all queries of one side; all pictures have labels."""
    gallery = embedded.gallery
    assert gallery.labels is not None
    pictures, kinds = gallery.labels, classes(gallery.labels, gallery.label_names)
    own = np.arange(len(gallery.images)) if side == "image" else gallery.owners
    items = gallery.owners if side == "image" else np.arange(len(gallery.images))
    scores = direction_of(embedded, side).scores
    priority = tie_priority(scores.shape[1])
    first, right, alike = [], [], []
    wrong = same = 0
    for start in range(0, len(own), BLOCK):
        rows = np.arange(start, min(start + BLOCK, len(own)))
        best = np.asarray(top(scores(rows), k, priority))
        shared = _shares(pictures, own[rows], items)
        related = _shares(kinds, own[rows], items)
        first.append(best)
        right.append(np.take_along_axis(shared, best, 1))
        alike.append(np.take_along_axis(related, best, 1))
        wrong += int((~shared).sum())
        same += int((related & ~shared).sum())
    joined = [np.concatenate(parts) for parts in (first, right, alike)]
    return Found(joined[0], joined[1], joined[2], same / wrong if wrong else None)


def _shares(
    has: sparse.csr_matrix, queries: Int[np.ndarray, " queries"], items: Int[np.ndarray, " items"]
) -> Bool[np.ndarray, "queries items"]:
    return np.asarray((has[queries] @ has[items].T).toarray() > 0)


def shown(found: Found, count: int) -> list[int]:
    """Queries with most wrong results, alternately by each cause; the first of equals.

    Fewer where fewer have a wrong result at all.
    """
    causes = (~found.right & found.alike, ~found.right & ~found.alike)
    orders = [_most(some.sum(axis=1)) for some in causes]
    chosen = dict.fromkeys(one for pair in zip_longest(*orders) for one in pair if one is not None)
    return list(chosen)[:count]


def _most(counts: Int[np.ndarray, " queries"]) -> list[int]:
    """Those that have some, with most first."""
    order = np.argsort(-counts, kind="stable")
    return [int(one) for one in order if counts[one]]

"""Graphs, asked so that filters and removals hide nothing, and pages follow each other.

A graph is asked as if everything could be found, and what may not be found is dropped from its
answer. Led past that by FAISS, a walk ends where a filter or removals cover the neighborhood of a
query. Every item that is nearer than the last node of an answer is in it, so that an answer with
enough items left is right; queries with fewer are asked more widely, and compared with everything
that passes once that takes no longer.

A query that is like nothing in the index has no neighborhood to be led to: what is nearest to it
lies scattered, and a walk misses some of it. It is told by its best hit, which is no nearer than
one of so many directions is by chance, and asked more widely once.
"""

from __future__ import annotations

from math import ceil, log, sqrt
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float32, Int

from trope.index import graphs
from trope.index.candidates import (
    ROUNDING,
    Hits,
    Places,
    Queries,
    Scores,
    after,
    by_all,
    by_nodes,
    filled,
    highest,
    nothing,
)
from trope.index.parts import Part

EACH = 64  # comparisons that a candidate takes, and the way to it
ENOUGH, PLENTY = 2, 4  # candidates for each node of an answer, and where some may not be found
MARGIN = 1.5  # nodes for each that would do if items that pass were spread evenly
WIDER = 4  # times as many the next time
CHANCE = 1.15  # times the expected likeness of the best by chance: hardly any is more like
LIKE = 0.5  # chance of which nothing can be told: in few dimensions something is always near

Allowed: TypeAlias = Bool[np.ndarray, " items"] | None
Flags: TypeAlias = Bool[np.ndarray, " queries"]


def walked(
    part: Part, queries: Queries, k: int, allowed: Allowed, asking: int
) -> tuple[Places, Scores]:
    """The k nearest items. The first are the same whatever k is, so that pages fit together."""
    passing, step = _passing(part, allowed), max(asking // 2, 1)
    if k >= passing or not _worth(part, _width(part, step, allowed), allowed, asking):
        return by_all(part, queries, k, allowed)
    if allowed is None and k <= step and part.plain and queries.shape[1] == 1:
        return _plainly(part, queries, k, (step, asking))
    found = _step(part, queries, step, allowed, asking)
    while step < passing and _short(found, k):
        step = min(step * WIDER, passing)
        found = after(found, _step(part, queries, step, allowed, asking))
    return by_all(part, queries, k, allowed) if _short(found, k) else _first(found, k)


def _plainly(part: Part, queries: Queries, k: int, how: tuple[int, int]) -> tuple[Places, Scores]:
    """The first of a step, where nothing is left out of it: as fast as FAISS alone."""
    step, asking = how
    candidates = graphs.parameters(_candidates(step, None, asking))
    scores, near = part.graph.search(queries[:, 0], k, params=candidates)
    if near.min() < 0:
        return by_all(part, queries, k, None)
    far = scores[:, 0] < _chance(part)
    if far.any():
        near[far], scores[far] = _first(_step(part, queries[far], step, None, asking), k)
    return near, scores


def compared(part: Part, queries: Queries, k: int) -> tuple[Places, Scores]:
    """By comparing with all nodes; behind so many of the nearest are k items at least."""
    count = min((min(k, len(part.senses)) - 1) * part.senses.shape[1] + 1, len(part.nodes))
    flat = np.ascontiguousarray(queries.reshape(-1, queries.shape[2]))
    scores, near = graphs.compared(part.nodes, flat, count)
    if part.plain and queries.shape[1] == 1:
        return filled(near, scores, k)
    return by_nodes(part, queries, near, k, None)


def _short(found: Hits, k: int) -> bool:
    """Whether some query has fewer hits."""
    return found[0].shape[1] < k or bool((found[0][:, k - 1] < 0).any())


def _first(found: Hits, k: int) -> Hits:
    return found[0][:, :k], found[1][:, :k]


def _step(
    part: Part, queries: Queries, k: int, allowed: Allowed, asking: int
) -> tuple[Places, Scores]:
    """The k nearest by the graph, more widely where that is in doubt, at last by everything."""
    (places, scores), left = nothing(len(queries), k), np.arange(len(queries))
    width, chance = _width(part, k, allowed), _chance(part)
    while len(left) and _worth(part, width, allowed, asking):
        found, doubtful = _asked(part, queries[left], k, allowed, (width, asking, chance))
        places[left], scores[left] = found
        left, width, chance = left[doubtful], width * WIDER, -1.0
    if len(left):
        rest = queries[left]
        whole = compared(part, rest, k) if allowed is None else by_all(part, rest, k, allowed)
        places[left], scores[left] = whole
    return places, scores


def _width(part: Part, k: int, allowed: Allowed) -> int:
    """Nodes behind which k items are that pass, if these are spread evenly."""
    sure = (k - 1) * int(part.senses.shape[1]) + 1
    if allowed is None:
        return sure
    return ceil(MARGIN * sure * len(allowed) / max(_passing(part, allowed), 1))


def _candidates(width: int, allowed: Allowed, asking: int) -> int:
    return max(asking, (ENOUGH if allowed is None else PLENTY) * width)


def _worth(part: Part, width: int, allowed: Allowed, asking: int) -> bool:
    """Whether a graph takes less time than a comparison with everything that passes."""
    comparisons = EACH * _candidates(width, allowed, asking)
    return width < len(part.nodes) and comparisons < _passing(part, allowed)


def _asked(
    part: Part, queries: Queries, k: int, allowed: Allowed, how: tuple[int, int, float]
) -> tuple[tuple[Places, Scores], Flags]:
    """The best items behind nodes the graph leads to, and whose might not be the best of all."""
    width, asking, chance = how
    flat = np.ascontiguousarray(queries.reshape(-1, queries.shape[2]))
    candidates = _candidates(width, allowed, asking)
    values, near = part.graph.search(flat, width, params=graphs.parameters(candidates))
    if part.plain and queries.shape[1] == 1:
        found = _kept(near, values, k, allowed)
    else:
        found = by_nodes(part, queries, near, k, allowed)
    far = values[:, 0].reshape(len(queries), -1).max(axis=1) < chance
    return found, far | (found[1][:, -1] < _bound(values, len(queries)) - ROUNDING)


def _chance(part: Part) -> float:
    """How like a query the best of so many vectors is if none has to do with it; -1 for no idea.

    Products of directions that have nothing to do with each other have the variance 1 / d, and the
    largest of n of them is near to √(2 ln n / d).
    """
    count, size = part.nodes.shape
    best = CHANCE * sqrt(2 * log(max(count, 1)) / size)
    return best if best < LIKE else -1.0


def _bound(
    values: Float32[np.ndarray, "all_senses nodes"], queries: int
) -> Float32[np.ndarray, " queries"]:
    """How near an item may be that no sense of a query has led to."""
    return np.asarray(values[:, -1].reshape(queries, -1).max(axis=1))


def _kept(
    near: Int[np.ndarray, "queries nodes"],
    values: Float32[np.ndarray, "queries nodes"],
    k: int,
    allowed: Allowed,
) -> tuple[Places, Scores]:
    """Items that may be found, nearest first; where there are too few, -1, infinitely unlike."""
    out = near < 0
    if allowed is not None:
        out |= ~allowed[near]
    return highest(np.where(out, -1, near), np.where(out, np.float32(-np.inf), values), k)


def _passing(part: Part, allowed: Allowed) -> int:
    return len(part.senses) if allowed is None else int(np.count_nonzero(allowed))

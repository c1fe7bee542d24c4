"""From scores to the best items: the best of all pairs of senses, k kept, equals in their order."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float32, Int

from trope.index.parts import Part

BLOCK = 2**22  # products held at a time
ROUNDING = 1e-6  # of scores that are computed in another order

Queries: TypeAlias = Float32[np.ndarray, "queries senses d"]
Places: TypeAlias = Int[np.ndarray, "queries k"]
Scores: TypeAlias = Float32[np.ndarray, "queries k"]
Hits: TypeAlias = tuple[Int[np.ndarray, "queries _"], Float32[np.ndarray, "queries _"]]
Pairs: TypeAlias = Int[np.ndarray, " pairs"]


def by_all(
    part: Part, queries: Queries, k: int, allowed: Bool[np.ndarray, " items"] | None
) -> tuple[Places, Scores]:
    """Every query with every item that may be found, block by block: the reference."""
    chosen = np.arange(len(part.senses)) if allowed is None else np.flatnonzero(allowed)
    places, scores = nothing(len(queries), min(k, len(chosen)))
    width = max(1, queries.shape[0] * queries.shape[1] * part.senses.shape[1])
    step = max(1, BLOCK // max(width, part.nodes.shape[1]))
    for start in range(0, len(chosen), step):
        some = chosen[start : start + step]
        found = best_of(queries, part.vectors(some))
        both = np.concatenate([scores, found], axis=1)
        where = np.concatenate([places, np.broadcast_to(some, found.shape)], axis=1)
        places, scores = highest(where, both, places.shape[1])
    return filled(places, scores, k)


def best_of(
    queries: Queries, items: Float32[np.ndarray, "items others d"]
) -> Float32[np.ndarray, "queries items"]:
    """The best score over all pairs of a query's and an item's senses."""
    n, each, size = queries.shape
    m, other, _ = items.shape
    products = queries.reshape(-1, size) @ items.reshape(-1, size).T
    return np.asarray(products.reshape(n, each, m, other).max(axis=(1, 3)))


def by_nodes(
    part: Part,
    queries: Queries,
    near: Int[np.ndarray, "all_senses nodes"],
    k: int,
    allowed: Bool[np.ndarray, " items"] | None,
) -> tuple[Places, Scores]:
    """The best items behind nodes that were found for each sense of each query."""
    owners = np.repeat(np.arange(len(queries)), near.size // max(len(queries), 1))
    asked, items = _behind(part, owners, near.ravel(), k, allowed)
    pairs = np.unique(asked * max(len(part.senses), 1) + items)
    asked, items = np.divmod(pairs, max(len(part.senses), 1))
    found = _paired(part, queries, asked, items)
    order = np.lexsort((items, -found, asked))
    asked, items, found = asked[order], items[order], found[order]
    counts = np.bincount(asked, minlength=len(queries))
    rank = np.arange(len(asked)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = rank < k
    places, scores = nothing(len(queries), k)
    places[asked[kept], rank[kept]] = items[kept]
    scores[asked[kept], rank[kept]] = found[kept]
    return places, scores


def nothing(queries: int, k: int) -> tuple[Places, Scores]:
    """No items yet: -1, infinitely unlike."""
    return np.full((queries, k), -1, np.int64), np.full((queries, k), -np.inf, np.float32)


def filled(
    places: Int[np.ndarray, "queries some"], scores: Float32[np.ndarray, "queries some"], k: int
) -> tuple[Places, Scores]:
    """As many columns as were asked for."""
    if places.shape[1] == k:
        return places, scores
    wide, low = nothing(len(places), k)
    wide[:, : places.shape[1]], low[:, : places.shape[1]] = places, scores
    return wide, low


def highest(
    places: Int[np.ndarray, "queries some"], scores: Float32[np.ndarray, "queries some"], k: int
) -> tuple[Places, Scores]:
    """The k best columns of each row; of equal ones those that stand first."""
    if scores.shape[1] > 4 * k:  # sorting is the slow part
        bound = np.partition(scores, scores.shape[1] - k, axis=1)[:, -k]
        width = int((scores >= bound[:, None]).sum(axis=1).max())
        first = np.argsort(scores < bound[:, None], axis=1, kind="stable")[:, :width]
        places, scores = (np.take_along_axis(values, first, 1) for values in (places, scores))
    order = np.argsort(-scores, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(places, order, axis=1), np.take_along_axis(scores, order, axis=1)


def after(first: Hits, more: Hits) -> Hits:
    """Hits with those that come after them in a wider answer; what they had missed stays so."""
    places, scores = nothing(len(more[0]), first[0].shape[1] + more[0].shape[1])
    for row, (names, values) in enumerate(zip(*first, strict=True)):
        known = names >= 0
        last = values[known][-1]
        new = (more[1][row] <= last + ROUNDING) & ~np.isin(more[0][row], [*names, -1])
        both = [names[known], more[0][row][new]]
        low = [values[known], np.minimum(more[1][row][new], last)]
        count = len(both[0]) + len(both[1])
        places[row, :count], scores[row, :count] = np.concatenate(both), np.concatenate(low)
    return places, scores


def _behind(
    part: Part,
    owners: Int[np.ndarray, " near"],
    nodes: Int[np.ndarray, " near"],
    k: int,
    allowed: Bool[np.ndarray, " items"] | None,
) -> tuple[Pairs, Pairs]:
    """Queries and the items behind their nodes, the first k that may be found of each node."""
    real = nodes >= 0
    if part.plain and allowed is not None:
        real &= allowed[nodes]
    owners, nodes = owners[real], nodes[real]
    if part.plain:
        return owners, nodes
    members, starts = part.members
    if allowed is not None:
        passing = np.concatenate([[0], np.cumsum(allowed[members])])
        members, starts = members[allowed[members]], passing[starts]
    sizes = np.minimum(starts[nodes + 1] - starts[nodes], k)
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return np.repeat(owners, sizes), members[np.repeat(starts[nodes], sizes) + within]


def _paired(
    part: Part, queries: Queries, asked: Pairs, items: Pairs
) -> Float32[np.ndarray, " pairs"]:
    """The score of each query with one item."""
    found = np.empty(len(asked), np.float32)
    step = max(1, BLOCK // max(1, part.senses.shape[1] * queries.shape[2]))
    for start in range(0, len(asked), step):
        some = slice(start, start + step)
        products = queries[asked[some]] @ part.vectors(items[some]).transpose(0, 2, 1)
        found[some] = products.max(axis=(1, 2), initial=-np.inf)
    return found

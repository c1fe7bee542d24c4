"""Diversity and discrepancy of all pairs (Thomas & Kovashka, CVPR Workshops 2022), exactly.

    diversity    mean over neighbors r, c of i of            <s_r, s_c>     Eq. 4, before Γ
    discrepancy  mean over the neighbors' neighbors c of i   <s_c, s_i>     Eq. 3, before Γ

Neighbors are those of the texts, for images and texts alike. A mean over r and c is the square of
a mean: with A the matrix that has 1/N at the N neighbors of each row and E the vectors, they are
|(A E)_i|² and <(A A E)_i, s_i>, two sparse products for all pairs instead of N² inner products
for each. Both are sums over the columns of E, which are taken a few at a time: what is gathered
then stays near the processor, and memory does not grow with the size of vectors. All steps of A
from a row are equal, so that its products are sums, shared out over cores.

With K senses an item the vector is the mean of its senses: <mean, mean> is that over all pairs
of senses.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float, Int

from trope.compiled import compiled, spread
from trope.neighbors import Chain, NeighborTable
from trope.neighbors.table import Made

MEASURES = ("diversity", "discrepancy")
COLUMNS = 64  # of vectors, at a time: 256 bytes of a row

Vectors: TypeAlias = Float[np.ndarray, "n d"]
Scores: TypeAlias = Float[np.ndarray, " n"]


def chain_of(ids: Int[np.ndarray, "n N"], dtype: type[np.floating] = np.float32) -> Chain:
    """The matrix A of a table of neighbors; -1 is none."""
    nowhere = np.broadcast_to(np.float32(0), ids.shape)
    made = Made("", "l2", "given", ids.shape[1])
    table = NeighborTable(ids.astype(np.int32, copy=False), nowhere, made)
    return Chain.of(table, dtype)


def measured(
    chain: Chain,
    vectors: Vectors,
    measures: Collection[str] = MEASURES,
    *,
    itself: bool = True,
    steps: int = 2,
) -> dict[str, Scores]:
    """Each measure of each row; a row that has none gets the mean of the others.

    Without `itself`, a neighbor is not compared with itself, nor a row where two steps lead back
    to it. With one of `steps`, discrepancy is that from the neighbors themselves.
    """
    size = len(vectors)
    squares, products, own = np.zeros(size), np.zeros(size), np.zeros(size)
    for first in range(0, vectors.shape[1], COLUMNS):
        part = np.ascontiguousarray(vectors[:, first : first + COLUMNS])
        means = average(chain, part)
        if "diversity" in measures:
            squares += _products(means, means)
        if "discrepancy" in measures:
            products += _products(average(chain, means) if steps == 2 else means, part)
        if not itself:
            own += _products(part, part)
    found = {"diversity": squares, "discrepancy": products}
    counts = {"diversity": np.minimum(chain.counts, 1.0), "discrepancy": _reached(chain, steps)}
    if not itself:
        counts["diversity"] = np.maximum(chain.counts - 1.0, 0)
        found["diversity"] = chain.counts * squares - average(chain, own[:, None])[:, 0]
        if steps == 2:
            counts["discrepancy"] = counts["discrepancy"] - chain.returning
            found["discrepancy"] = products - chain.returning * own
    return {name: settled(found[name], counts[name]) for name in MEASURES if name in measures}


def average(chain: Chain, vectors: Vectors) -> Vectors:
    """A E: the mean of each row's neighbors, zero without any."""
    starts, near, means = chain.matrix.indptr, chain.matrix.indices, np.empty_like(vectors)
    each = vectors.shape[1] * max(len(near) // max(len(vectors), 1), 1)
    spread(len(vectors), each, lambda a, b: _average(starts, near, vectors, means, a, b))
    return means


@compiled
def _average(
    starts: np.ndarray,
    near: np.ndarray,
    vectors: np.ndarray,
    means: np.ndarray,
    first: int,
    last: int,
) -> None:
    """Four neighbors at a time: their sum is looked up and put back a quarter as often."""
    for i in range(first, last):
        mean, many = means[i], starts[i + 1] - starts[i]
        mean[:] = 0
        fours = starts[i] + many // 4 * 4
        for j in range(starts[i], fours, 4):
            a, b = vectors[near[j]], vectors[near[j + 1]]
            c, d = vectors[near[j + 2]], vectors[near[j + 3]]
            for k in range(len(mean)):
                mean[k] += (a[k] + b[k]) + (c[k] + d[k])
        for j in range(fours, starts[i + 1]):
            a = vectors[near[j]]
            for k in range(len(mean)):
                mean[k] += a[k]
        for k in range(len(mean)):
            mean[k] /= max(many, 1)


def settled(sums: Scores, counts: Scores) -> Scores:
    """Means; the mean of all others where nothing was counted, so that it weighs as they do."""
    some: Bool[np.ndarray, " n"] = counts > 1e-6  # what rounding leaves of nothing is nothing
    found = sums[some] / counts[some]
    means = np.full(len(sums), found.mean() if len(found) else 0.0)
    means[some] = found
    return means


def _reached(chain: Chain, steps: int) -> Scores:
    """How likely so many steps lead anywhere."""
    once = np.minimum(chain.counts, 1.0)
    return chain.arriving.astype(np.float64) if steps == 2 else once


def _products(left: Vectors, right: Vectors) -> Scores:
    return np.asarray(np.einsum("nd,nd->n", left, right), np.float64)

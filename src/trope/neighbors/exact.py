"""The k nearest rows by comparing all with all, block by block: the reference, and fast.

One product of matrices orders all rows by their nearness to a block of them, in 32 bits and so only
nearly right; a bound that surely covers the k nearest leaves a few more than k candidates a row,
whose distances are computed in full. Equal distances stand in the order of the rows.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Float32, Int

from trope.neighbors.candidates import Distances, Ids, Places, choose, nothing
from trope.neighbors.rows import Numbers, Rows
from trope.runtime import progress_bar

BLOCK = 2**24  # numbers in a block of products: 64 MB
AT_ONCE = 2  # blocks: while one is multiplied by all cores, candidates of the other are compared
GROUPS = 8  # per wanted neighbor: the more, the fewer candidates beyond them
LONGEST = 64  # rows in a group
ROUNDING = 2.0**-24
TINY = 2.0**-126  # what is smaller may be lost altogether

Keys: TypeAlias = Float32[np.ndarray, "queries rows"]
Queries: TypeAlias = Int[np.ndarray, " queries"]
Bounds: TypeAlias = Float[np.ndarray, " queries"]


def nearest(
    rows: Rows, k: int, queries: Queries | None = None, block: int | None = None
) -> tuple[Ids, Distances]:
    """Numbers and distances of the k nearest rows of each query; -1 and infinity fill up."""
    queries = np.arange(len(rows)) if queries is None else queries
    ids, far = nothing(len(queries), k)
    if not len(rows):
        return ids, far
    search, step = _Search(rows, k), max(1, (block or BLOCK) // len(rows))
    parts = [slice(start, start + step) for start in range(0, len(queries), step)]
    with (
        progress_bar("nearest neighbors, exact", len(queries)) as bar,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        found = pool.map(lambda part: search.nearest(queries[part]), parts)
        for part, (ids[part], far[part]) in zip(parts, found, strict=True):
            bar.advance(bar.task_ids[0], len(queries[part]))
    return ids, far


class _Search:
    """Rows as the two sides of a product; its keys |y|^2 / 2 - x y order the rows y around x."""

    def __init__(self, rows: Rows, k: int) -> None:
        self.rows, self.k = rows, k
        count, size = rows.vectors.shape
        self.sides = np.empty((count, size + 1), np.float32)
        centered = self.sides[:, :-1]  # around zero little is lost to rounding
        np.subtract(rows.vectors, rows.vectors.mean(axis=0, dtype=np.float64), out=centered)
        self.squares: Numbers = np.einsum("nd,nd->n", centered, centered)
        self.sides[:, -1] = self.squares / 2
        self.wanted = k + rows.barred()

    def nearest(self, queries: Queries) -> tuple[Ids, Distances]:
        """The k nearest rows of a block of queries."""
        return choose(self.rows, queries, *self.candidates(queries), self.k)

    def candidates(self, queries: Queries) -> tuple[Places, Places]:
        """Places among the queries and rows that may be near them: surely all k nearest."""
        left = -self.sides[queries]
        left[:, -1] = 1
        keys = left @ self.sides.T
        bound = covering(keys, self.wanted[queries])
        bound += slack(bound, self.squares[queries].astype(np.float64), keys.shape[1])
        places, found = np.nonzero(keys <= bound.astype(np.float32)[:, None])
        return places, found


def covering(keys: Keys, wanted: Queries) -> Bounds:
    """A number for each row that at least `wanted` of its keys do not exceed.

    The keys fall into interleaved groups, each with a smallest; the bound is the smallest key
    of rank `wanted`. Neighbors that stand together in the data so fall into different groups.
    """
    count = keys.shape[1]
    groups = min(count, max(GROUPS * int(wanted.max()), count // LONGEST))
    depth = count // groups
    smallest = keys[:, : depth * groups].reshape(len(keys), depth, groups).min(axis=1)
    smallest.sort(axis=1)
    bound = smallest[np.arange(len(keys)), np.minimum(wanted, groups) - 1]
    return np.where(wanted > groups, np.inf, bound.astype(np.float64))


def slack(bound: Bounds, squares: Bounds, terms: int) -> Bounds:
    """How far two keys below the bound may be out of order: sums of `terms` rounded products.

    A row y whose key is below the bound is no longer than `reach`, which limits every product.
    """
    length = np.sqrt(squares)
    reach = length + np.sqrt(np.maximum(squares + 2 * bound, 0))
    return np.asarray(2 * (terms + 8) * (ROUNDING * reach * (length + reach) + TINY))

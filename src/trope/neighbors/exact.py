"""The k nearest rows by comparing all with all, block by block: the reference, and fast.

One product of matrices orders all rows by their nearness to a block of them, in 32 bits and so only
nearly right; a bound that surely covers the k nearest leaves a few more than k candidates a row,
whose distances are computed in full. Rows with the same vector are one point until then. Equal
distances stand in the order of the rows.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Float32, Float64, Int

from trope.neighbors.candidates import Distances, Ids, Places, choose, nothing
from trope.neighbors.points import Points
from trope.neighbors.rows import Numbers, Rows
from trope.runtime import progress_bar

BLOCK = 2**24  # numbers in a block of products: 64 MB
AT_ONCE = 2  # blocks: while one is multiplied by all cores, candidates of the other are compared
GROUPS = 8  # per wanted neighbor: the more, the fewer candidates beyond them
LONGEST = 64  # rows in a group
ROUNDING = 2.0**-24
TINY = 2.0**-126  # what is smaller may be lost altogether

Apart: TypeAlias = Float64[np.ndarray, " found"]
Some: TypeAlias = Int[np.ndarray, " some"]
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
    search = _Search(rows, k)
    step = max(1, (block or BLOCK) // len(search.points))
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
    """Points as the two sides of a product; its keys |y|^2 / 2 - x y order points y around x."""

    def __init__(self, rows: Rows, k: int) -> None:
        self.rows, self.k, self.points = rows, k, Points.of(rows)
        self.first = self.points.first
        different = rows.vectors if len(self.points) == len(rows) else rows.vectors[self.first]
        count, size = different.shape
        self.sides = np.empty((count, size + 1), np.float32)
        centered = self.sides[:, :-1]  # around zero little is lost to rounding
        np.subtract(different, different.mean(axis=0, dtype=np.float64), out=centered)
        self.squares: Numbers = np.einsum("nd,nd->n", centered, centered)
        self.sides[:, -1] = self.squares / 2
        self.wanted = k + rows.barred()

    def nearest(self, queries: Queries) -> tuple[Ids, Distances]:
        """The k nearest rows of a block of queries."""
        places, near = self.candidates(queries)
        apart = self.rows.distances(queries[places], self.first[near])
        if len(self.points) < len(self.rows):
            places, near, apart = self.expanded(queries, places, near, apart)
        return choose(self.rows, queries, places, near, apart, self.k)

    def candidates(self, queries: Queries) -> tuple[Places, Places]:
        """Places among the queries and points that may be near them: surely all that are needed."""
        own = self.rows.copies[queries]
        left = -self.sides[own]
        left[:, -1] = 1
        keys = left @ self.sides.T
        bound = covering(keys, self.wanted[queries])
        squares = self.squares[own].astype(np.float64)
        bound += slack(bound, squares, self.sides.shape[1])
        places, near = np.nonzero(keys <= bound.astype(np.float32)[:, None])
        return places, near

    def expanded(
        self, queries: Queries, places: Some, near: Some, apart: Float64[np.ndarray, " some"]
    ) -> tuple[Places, Places, Apart]:
        """The rows behind points, in their order: no more of each than are wanted in all.

        A point is left out where the points nearer than it have enough rows already.
        """
        order = np.lexsort((apart, places))
        places, near, apart = places[order], near[order], apart[order]
        wanted, own = self.wanted[queries][places], self.rows.copies[queries][places] == near
        sizes = np.where(own, 0, np.minimum(self.points.sizes[near], wanted))
        sizes[_nearer(places, apart, sizes) >= wanted] = 0
        places, apart = np.repeat(places, sizes), np.repeat(apart, sizes)
        found = self.points.rows(near, sizes)
        order = np.lexsort((found, places))
        return places[order], found[order], apart[order]


def _nearer(places: Places, apart: Apart, sizes: Places) -> Places:
    """How many rows the strictly nearer points of the same place have; points are in order."""
    before, index = np.cumsum(sizes) - sizes, np.arange(len(places))
    fresh = np.diff(places, prepend=-1) > 0
    start = np.maximum.accumulate(np.where(fresh, index, 0))
    farther = fresh | (np.diff(apart, prepend=-1.0) > 0)
    run = np.maximum.accumulate(np.where(farther, index, 0))
    return np.asarray(before[run] - before[start])


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
    """How far two keys below the bound may be out of order: each sums `terms` rounded products.

    A row y whose key is below the bound is no longer than `reach`, which limits every product.
    """
    length = np.sqrt(squares)
    reach = length + np.sqrt(np.maximum(squares + 2 * bound, 0))
    return np.asarray(2 * (terms + 8) * (ROUNDING * reach * (length + reach) + TINY))

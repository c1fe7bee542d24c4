"""From candidates to neighbors: rows that may not meet left out, sorted, k kept."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from jaxtyping import Float32, Float64, Int, Int32

from trope.neighbors.rows import Rows

Ids: TypeAlias = Int32[np.ndarray, "queries k"]
Distances: TypeAlias = Float32[np.ndarray, "queries k"]
Places: TypeAlias = Int[np.ndarray, " found"]


def nothing(count: int, k: int) -> tuple[Ids, Distances]:
    """No neighbors yet: -1, infinitely far."""
    return np.full((count, k), -1, np.int32), np.full((count, k), np.inf, np.float32)


def choose(
    rows: Rows,
    queries: Int[np.ndarray, " queries"],
    places: Places,
    found: Places,
    apart: Float64[np.ndarray, " found"],
    k: int,
) -> tuple[Ids, Distances]:
    """The k nearest of the candidates; `places` are positions in `queries`, `found` are rows.

    `apart` are their distances; candidates at equal ones stay in the order in which they are given.
    """
    fine = rows.may_meet(queries[places], found)
    places, found, apart = places[fine], found[fine], apart[fine]
    order = np.lexsort((apart, places))
    places, found, apart = places[order], found[order], apart[order]
    counts = np.bincount(places, minlength=len(queries))
    rank = np.arange(len(places)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = rank < k
    ids, far = nothing(len(queries), k)
    ids[places[kept], rank[kept]] = found[kept]
    far[places[kept], rank[kept]] = apart[kept]
    return ids, far

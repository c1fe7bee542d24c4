"""Preservation: do semantic neighbors stay neighbors in the learned space?

Thomas & Kovashka, ECCV 2020, Table 3. For an item with the k nearest others A in the semantic space
and the k nearest B in the learned one, both among items of its own modality:

    preservation = |A ∩ B| / |A|

Items that are the same as it (its picture, its text, another text of its picture) are in neither.
A random space preserves k / (number of others): the figure to read beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32, Float64, Int, Int32

from trope.errors import DataError
from trope.maths import normalize
from trope.metrics.sorting import tie_priority, top
from trope.neighbors.rows import Metric
from trope.similarity import similarity
from trope.views import Encoded

LARGEST_K, LARGEST_SHARE = 200, 20  # the paper's k, but at most a 20th of the items
BLOCK = 2**24  # products computed together

Rows: TypeAlias = Int[np.ndarray, " rows"]
Codes: TypeAlias = Int[np.ndarray, " items"]
Scores: TypeAlias = Float32[np.ndarray, "rows items"]
Near: TypeAlias = Int32[np.ndarray, "rows k"]
Values: TypeAlias = Float64[np.ndarray, " items"]


@dataclass(frozen=True, eq=False)
class Preservation:
    """For each item the share of its k neighbors that stayed, and the share that chance gives.

    NaN where an item has no content in the semantic space, or no other item.
    """

    values: Values
    chance: Values
    k: int


def default_k(items: int) -> int:
    """200 as in the paper, at most a 20th of the items: chance stays near 5 %."""
    return max(1, min(LARGEST_K, items // LARGEST_SHARE))


def preservation(
    semantic: Float[np.ndarray, "items d"],
    learned: Encoded,
    same: Sequence[Codes] = (),
    k: int | None = None,
    metric: Metric = "l2",
) -> Preservation:
    """Compare the neighborhoods of items of one modality in two spaces, block by block.

    Items with an equal number in any array of `same` are the same item. A row of zeros in the
    semantic space is an item without content: nobody's neighbor, in neither space.
    """
    rows = np.flatnonzero(semantic.any(axis=1))
    k = default_k(len(rows)) if k is None else k
    if k < 1:
        raise ValueError(f"k must be at least 1, found {k}")
    codes = [np.arange(len(rows)), *(np.asarray(code)[rows] for code in same)]
    spaces = (_semantic(semantic[rows], metric), _learned(learned, rows))
    values, chance = np.full((2, len(semantic)), np.nan)
    step = max(1, BLOCK // max(1, len(rows) * _senses(learned) ** 2))
    for start in range(0, len(rows), step):
        part = np.arange(start, min(start + step, len(rows)))
        values[rows[part]], chance[rows[part]] = _compared(spaces, codes, part, k)
    return Preservation(values, chance, k)


def shared(left: Near, right: Near, items: int) -> Float64[np.ndarray, " rows"]:
    """The share of the left numbers of each row that are among the right ones; -1 is none."""
    there = np.zeros((len(left), items + 1), np.bool_)
    np.put_along_axis(there, right.astype(np.int64), True, axis=1)
    there[:, -1] = False
    hits = np.take_along_axis(there, left.astype(np.int64), axis=1).sum(axis=1)
    return _share(hits, np.count_nonzero(left >= 0, axis=1))


Space: TypeAlias = Callable[[Rows], Scores]


def _compared(
    spaces: tuple[Space, Space], codes: Sequence[Codes], rows: Rows, k: int
) -> tuple[Float64[np.ndarray, " rows"], Float64[np.ndarray, " rows"]]:
    """Preservation of some items, and what chance gives them."""
    barred = np.logical_or.reduce([code[rows][:, None] == code for code in codes])
    left, right = (_nearest(space(rows), barred, k) for space in spaces)
    others = barred.shape[1] - np.count_nonzero(barred, axis=1)
    chance = _share(np.minimum(k, others), others)
    return shared(left, right, barred.shape[1]), chance


def _nearest(scores: Scores, barred: Bool[np.ndarray, "rows items"], k: int) -> Near:
    """The k items of highest score that are not barred; -1 where there are fewer."""
    scores[barred] = -np.inf
    near = top(scores, k, tie_priority(scores.shape[1]))
    near[np.take_along_axis(barred, near.astype(np.int64), axis=1)] = -1
    return near


def _share(
    part: Int[np.ndarray, " rows"], whole: Int[np.ndarray, " rows"]
) -> Float64[np.ndarray, " rows"]:
    share = np.full(len(whole), np.nan)
    np.divide(part, whole, out=share, where=whole > 0)
    return share


def _semantic(vectors: Float[np.ndarray, "items d"], metric: Metric) -> Space:
    """The nearer, the higher: the cosine, or x y - y²/2, which falls with the distance of x and y.

    Taken from the mean of all vectors, around which little is lost to rounding.
    """
    if metric == "l2" and len(vectors):
        vectors = vectors - vectors.mean(axis=0, dtype=np.float64)
    values = torch.from_numpy(np.ascontiguousarray(vectors, np.float32))
    if metric == "cosine":
        values = normalize(values)
    half = (values * values).sum(dim=1) / 2 if metric == "l2" else torch.zeros(len(values))
    return lambda rows: _finite(values[torch.from_numpy(rows)] @ values.T - half)


def _learned(items: Encoded, rows: Rows) -> Space:
    """The model's own similarity: the best over all senses where there are several."""
    kept = _some(items, rows)
    return lambda some: _finite(similarity(_some(kept, some), kept))


def _some(items: Encoded, rows: Rows) -> Encoded:
    return items.take(torch.from_numpy(rows).to(items.mean.device))


def _senses(items: Encoded) -> int:
    return 1 if items.points is None else items.points.shape[1]


def _finite(scores: Float[torch.Tensor, "rows items"]) -> Scores:
    found = scores.detach().float().cpu().numpy()
    if not np.isfinite(found.sum(dtype=np.float64)):
        raise DataError("a vector holds a value that is no number, or too large a one")
    return np.asarray(found)

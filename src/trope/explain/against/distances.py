"""How far apart pairs lie in the space of a run, and by which factor more than in another's.

    ratio = d_one(i, j) / d_other(i, j)        Fig. 5 of paper 004

d is the Euclidean distance of two pictures, or of two texts, on the unit sphere: √(2 - 2 s). With
several senses an item, s is the best cosine over them.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from jaxtyping import Float64, Int

from trope.evaluation.scoring import some
from trope.similarity import paired_similarity
from trope.views import Encoded

BLOCK = 2**14  # couples at a time
SAME = 1e-3  # below, two items are one: what is left of a distance is rounding

Couples: TypeAlias = Int[np.ndarray, "2 couples"]


def distances(encoded: Encoded, couples: Couples) -> Float64[np.ndarray, " couples"]:
    """Of each couple of items."""
    found = np.empty(couples.shape[1])
    for start in range(0, couples.shape[1], BLOCK):
        left, right = couples[:, start : start + BLOCK]
        alike = paired_similarity(some(encoded, left), some(encoded, right))
        squares = 2 - 2 * alike.double().cpu().numpy()
        found[start : start + BLOCK] = np.sqrt(np.maximum(squares, 0))
    return found


def ratios(
    one: Float64[np.ndarray, " couples"], other: Float64[np.ndarray, " couples"]
) -> Float64[np.ndarray, " couples"]:
    """Below one where the first run keeps a couple closer; nan where a run takes both for one."""
    apart = (one > SAME) & (other > SAME)
    return np.where(apart, one / np.where(apart, other, 1), np.nan)


def neighboring(ids: Int[np.ndarray, "n k"], most: int, random: np.random.Generator) -> Couples:
    """Couples of neighbors, each once whoever is whose, all or as many as asked for."""
    left = np.repeat(np.arange(len(ids)), ids.shape[1])
    right = ids.ravel().astype(np.int64)
    there = right >= 0
    low, high = np.minimum(left, right)[there], np.maximum(left, right)[there]
    numbers = np.unique(low * len(ids) + high)
    if len(numbers) > most:
        numbers = np.sort(random.choice(numbers, most, replace=False))
    return np.stack([numbers // len(ids), numbers % len(ids)])


def anyone(count: int, many: int, random: np.random.Generator) -> Couples:
    """Couples of different items drawn at random."""
    left = random.integers(0, count, many)
    return np.stack([left, (left + random.integers(1, count, many)) % count])

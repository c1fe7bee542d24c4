"""Random tables of neighbors and vectors, a planted data set, and plain loops over them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st


class Case(NamedTuple):
    """Neighbors of each row (-1 for none) and the points of images and texts."""

    ids: np.ndarray
    bank: np.ndarray  # 2 n k d


def case(count: int, near: int, senses: int, full: bool, seed: int) -> Case:
    """Rows with differently many neighbors, or all with as many as there can be."""
    random = np.random.default_rng(seed)
    ids = np.full((count, near), -1, np.int32)
    for i in range(count):
        others = random.permutation([j for j in range(count) if j != i])[:near]
        some = others if full else others[: random.integers(0, near + 1)]
        ids[i, : len(some)] = some
    points = random.normal(size=(2, count, senses, 5))
    return Case(ids, points / np.linalg.norm(points, axis=-1, keepdims=True))


cases = st.builds(
    case,
    count=st.integers(2, 9),
    near=st.integers(1, 7),
    senses=st.sampled_from([1, 3]),
    full=st.booleans(),
    seed=st.integers(0, 2**31),
)


def of(ids: np.ndarray, i: int) -> list[int]:
    """The neighbors of a row."""
    return [int(j) for j in ids[i] if j >= 0]


def alike(left: np.ndarray, right: np.ndarray, senses: str) -> float:
    """The mean or the largest product of two items' senses, in loops."""
    found = [math.fsum(x * y for x, y in zip(a, b, strict=True)) for a in left for b in right]
    return max(found) if senses == "max" else math.fsum(found) / len(found)


def diversity(case: Case, side: int, senses: str = "mean", itself: bool = True) -> list[float]:
    """Eq. 4 in loops; nan where a row has no two neighbors to compare."""
    points, found = case.bank[side], []
    for i in range(len(case.ids)):
        near = of(case.ids, i)
        products = [
            alike(points[near[r]], points[near[c]], senses)
            for r in range(len(near))
            for c in range(len(near))
            if itself or r != c
        ]
        found.append(math.fsum(products) / len(products) if products else math.nan)
    return found


def discrepancy(
    case: Case, side: int, senses: str = "mean", itself: bool = True, steps: int = 2
) -> list[float]:
    """Eq. 3 in loops: the mean over neighbors of the means over theirs."""
    points, found = case.bank[side], []
    for i in range(len(case.ids)):
        total = weights = 0.0
        for r in of(case.ids, i):
            ends = of(case.ids, r) if steps == 2 else [r]
            for c in ends:
                if itself or c != i:
                    total += alike(points[c], points[i], senses) / len(ends)
                    weights += 1 / len(ends)
        found.append(total / weights if weights else math.nan)
    return found


def filled(values: Sequence[float]) -> list[float]:
    """The mean of the others where there is none."""
    known = [value for value in values if not math.isnan(value)]
    mean = math.fsum(known) / len(known) if known else 0.0
    return [mean if math.isnan(value) else value for value in values]


def softmax(values: Sequence[float]) -> list[float]:
    """Shares of exponentials, in loops."""
    powers = [math.exp(value) for value in values]
    return [power / math.fsum(powers) for power in powers]

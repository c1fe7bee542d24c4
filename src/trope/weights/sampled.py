"""Diversity and discrepancy from a sample of the N² products of each pair, as the paper takes them.

The largest cosine of the senses of two items is no sum over vectors: where items have several and
those that fit best shall count, products are taken one by one, all of them where they are no
more than the sample. Draws depend on the seed, the row and their number alone.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from functools import partial
from typing import TypeAlias

import numpy as np
from jaxtyping import Float

from trope.compiled import compiled, spread
from trope.neighbors import Chain
from trope.weights.neighborhood import MEASURES, Scores, settled

Points: TypeAlias = Float[np.ndarray, "n k d"]

STEP, FIRST, SECOND = (
    np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
)  # Steele, Lea & Flood 2014 (SplitMix64)
FRACTION = 2.0**-53


def sampled(
    chain: Chain,
    points: Points,
    measures: Collection[str] = MEASURES,
    *,
    sample: int = 1_000,
    itself: bool = True,
    steps: int = 2,
    seed: int = 0,
) -> dict[str, Scores]:
    """Each measure of each row, of at most `sample` products; with senses, of the largest each."""
    points = np.ascontiguousarray(points)
    starts, near = chain.matrix.indptr, chain.matrix.indices
    loops: dict[str, Callable[..., None]] = {
        "diversity": _diversities,
        "discrepancy": _discrepancies if steps == 2 else _nearnesses,
    }
    found: dict[str, Scores] = {}
    for number, (name, loop) in enumerate(loops.items()):
        if name in measures:
            sums, counts = np.zeros(len(points)), np.zeros(len(points))
            draws = np.uint64(seed) * np.uint64(2) + np.uint64(number)
            work = partial(loop, starts, near, points, sample, itself, draws, sums, counts)
            spread(len(points), sample, work)
            found[name] = settled(sums, counts)
    return found


@compiled
def _diversities(
    starts: np.ndarray,
    near: np.ndarray,
    points: np.ndarray,
    sample: int,
    itself: bool,
    seed: np.uint64,
    sums: np.ndarray,
    counts: np.ndarray,
    first: int,
    last: int,
) -> None:
    """Products of two neighbors of each row."""
    for i in range(first, last):
        many = starts[i + 1] - starts[i]
        whole = many * many <= sample
        for t in range(many * many if whole else sample):
            r = t // many if whole else _drawn(seed, i, 2 * t, many)
            c = t % many if whole else _drawn(seed, i, 2 * t + 1, many)
            if itself or r != c:
                sums[i] += _alike(points[near[starts[i] + r]], points[near[starts[i] + c]])
                counts[i] += 1.0


@compiled
def _discrepancies(
    starts: np.ndarray,
    near: np.ndarray,
    points: np.ndarray,
    sample: int,
    itself: bool,
    seed: np.uint64,
    sums: np.ndarray,
    counts: np.ndarray,
    first: int,
    last: int,
) -> None:
    """Products of each row and its neighbors' neighbors: each neighbor's count as much together."""
    for i in range(first, last):
        many = starts[i + 1] - starts[i]
        walks = 0
        for r in range(starts[i], starts[i + 1]):
            walks += starts[near[r] + 1] - starts[near[r]]
        if walks <= sample:
            for r in range(starts[i], starts[i + 1]):
                begin, end = starts[near[r]], starts[near[r] + 1]
                for c in range(begin, end):
                    if itself or near[c] != i:
                        share = 1.0 / (end - begin)
                        sums[i] += share * _alike(points[near[c]], points[i])
                        counts[i] += share
            continue
        for t in range(sample):
            r = near[starts[i] + _drawn(seed, i, 2 * t, many)]
            further = starts[r + 1] - starts[r]
            if further == 0:
                continue
            c = near[starts[r] + _drawn(seed, i, 2 * t + 1, further)]
            if itself or c != i:
                sums[i] += _alike(points[c], points[i])
                counts[i] += 1.0


@compiled
def _nearnesses(
    starts: np.ndarray,
    near: np.ndarray,
    points: np.ndarray,
    sample: int,
    itself: bool,
    seed: np.uint64,
    sums: np.ndarray,
    counts: np.ndarray,
    first: int,
    last: int,
) -> None:
    """Products of each row and its neighbors."""
    for i in range(first, last):
        many = starts[i + 1] - starts[i]
        for t in range(min(many, sample)):
            r = t if many <= sample else _drawn(seed, i, t, many)
            sums[i] += _alike(points[near[starts[i] + r]], points[i])
            counts[i] += 1.0


@compiled
def _alike(left: np.ndarray, right: np.ndarray) -> float:
    """The largest product of two senses."""
    best = -np.inf
    for k in range(len(left)):
        for m in range(len(right)):
            best = max(best, _product(left[k], right[m]))
    return best


@compiled
def _product(left: np.ndarray, right: np.ndarray) -> float:
    """In four sums, none of which waits for another."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    whole = len(left) // 4 * 4
    for j in range(0, whole, 4):
        a += left[j] * right[j]
        b += left[j + 1] * right[j + 1]
        c += left[j + 2] * right[j + 2]
        d += left[j + 3] * right[j + 3]
    for j in range(whole, len(left)):
        a += left[j] * right[j]
    return (a + b) + (c + d)


@compiled
def _drawn(seed: np.uint64, row: int, number: int, many: int) -> int:
    """A number below `many`, each as likely as another."""
    bits = _mixed(_mixed(seed + np.uint64(row) * STEP) + np.uint64(number) * STEP)
    return int((bits >> np.uint64(11)) * FRACTION * many)


@compiled
def _mixed(bits: np.uint64) -> np.uint64:
    bits = (bits ^ (bits >> np.uint64(30))) * FIRST
    bits = (bits ^ (bits >> np.uint64(27))) * SECOND
    return bits ^ (bits >> np.uint64(31))

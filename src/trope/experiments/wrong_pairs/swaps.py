"""Which pairs exchange their texts: for every pair, the pair whose texts it has afterwards."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from jaxtyping import Int

Rows: TypeAlias = Int[np.ndarray, " n"]
Couples: TypeAlias = Int[np.ndarray, "2 couples"]


def at_random(components: Rows, count: int, random: np.random.Generator) -> Rows:
    """Pairs drawn at random, two and two of different components."""
    order = random.permutation(len(components))[: len(components) // 2 * 2].reshape(-1, 2).T
    apart = components[order[0]] != components[order[1]]
    return _exchanged(len(components), order[:, apart][:, : count // 2])


def among_neighbors(ids: Int[np.ndarray, "n k"], count: int, random: np.random.Generator) -> Rows:
    """Pairs drawn at random, each with one of its neighbors, all equally likely; -1 is none."""
    free = np.ones(len(ids), bool)
    couples: list[tuple[int, int]] = []
    for row in random.permutation(len(ids)).tolist():
        if len(couples) == count // 2:
            break
        there = ids[row][ids[row] >= 0]
        open_to = there[free[there]]
        if free[row] and len(open_to):
            other = int(random.choice(open_to))
            free[[row, other]] = False
            couples.append((row, other))
    return _exchanged(len(ids), np.array(couples, np.int64).reshape(-1, 2).T)


def within_groups(
    groups: Rows, pictures: Rows, texts: Rows, count: int, random: np.random.Generator
) -> Rows:
    """Pairs of one group, two and two with different pictures and texts."""
    order = np.lexsort((random.random(len(groups)), groups))
    _, first, sizes = np.unique(groups[order], return_index=True, return_counts=True)
    place = np.arange(len(order)) - np.repeat(first, sizes)
    left = np.flatnonzero((place % 2 == 0) & (place + 1 < np.repeat(sizes, sizes)))
    couples = np.stack([order[left], order[left + 1]])
    one, other = couples
    differ = (pictures[one] != pictures[other]) & (texts[one] != texts[other])
    return _exchanged(len(groups), random.permutation(couples[:, differ], axis=1)[:, : count // 2])


def _exchanged(size: int, couples: Couples) -> Rows:
    source = np.arange(size)
    source[couples[0]], source[couples[1]] = couples[1], couples[0]
    return source

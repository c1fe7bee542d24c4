"""The pairs shown say different things."""

from __future__ import annotations

import numpy as np

from trope.explain.choice import LEAST, MOST, instructive
from trope.explain.meaning import Near


def near_of(ids: list[list[int]]) -> Near:
    found = np.array(ids, np.int64)
    return Near(np.arange(len(ids)), found, found, found.astype(np.float32))


def test_both_ends_of_the_order() -> None:
    near = near_of([[6, 7], [6, 8], [0, 9], [7, 9], [8, 9], [6, -1]])
    ranks = np.array([[90, 90], [1, 2], [95, 95], [50, 50], [80, 80], [1, 0]])
    chosen = instructive(near, ranks, 4)  # 5 has fewer neighbors than the others
    assert list(chosen.items()) == [(2, LEAST), (0, LEAST), (1, MOST), (3, MOST)]
    assert instructive(near, ranks, 1) == {2: LEAST}
    assert list(instructive(near, ranks, 99)) == [2, 0, 4, 1, 3]


def test_fewer_than_wanted() -> None:
    assert instructive(near_of([[-1], [-1]]), np.zeros((2, 1), np.int64), 6) == {}
    few = near_of([[1], [0]])
    assert instructive(few, np.array([[1], [1]]), 6) == {1: LEAST, 0: MOST}
    assert instructive(near_of([[], []]), np.zeros((2, 0), np.int64), 6) == {}

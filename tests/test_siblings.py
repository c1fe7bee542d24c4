"""Rows that share a code, without those that are tied."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from trope.neighbors.siblings import siblings


def test_siblings_are_the_other_texts_of_a_picture() -> None:
    found = siblings(np.array([5, 7, 5, 9, 5, 7]), 10)
    assert [sorted(row[row >= 0].tolist()) for row in found] == [
        [2, 4],
        [5],
        [0, 4],
        [],
        [0, 2],
        [1],
    ]


@given(st.integers(0, 2**31), st.integers(1, 9), st.integers(1, 14), st.integers(1, 5))
def test_who_is_tied_takes_no_place(seed: int, most: int, n: int, kinds: int) -> None:
    random = np.random.default_rng(seed)
    codes, tied = random.integers(0, kinds, n), random.integers(0, kinds, n)
    found = siblings(codes, most, tied)
    for i, row in enumerate(found):
        apart = {j for j in range(n) if codes[j] == codes[i] and tied[j] != tied[i]}
        there = row[row >= 0].tolist()
        assert set(there) <= apart
        assert len(set(there)) == len(there) == min(most, len(apart))


def test_all_have_their_turn() -> None:
    found = siblings(np.zeros(40, int), 3)
    assert np.bincount(found.ravel(), minlength=40).tolist() == [3] * 40

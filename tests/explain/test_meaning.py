"""Neighbors of rows from neighbors of texts: against plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from trope.explain.meaning import graph_recall, limited, nearest_rows
from trope.spaces import Vectors


@st.composite
def spaces(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    """Texts of a few rows on a coarse grid, some without content; rows with several texts."""
    counts = draw(st.lists(st.integers(0, 3), min_size=1, max_size=9))
    owners = np.repeat(np.arange(len(counts)), counts)
    values = draw(hnp.arrays(np.float32, (len(owners), 2), elements=st.integers(-2, 2)))
    return values, owners


def by_hand(vectors: Vectors, row: int, k: int) -> list[tuple[float, int]]:
    """The distances from a row to the others: the smallest of any two texts that are not equal."""
    best: dict[int, float] = {}
    values, owners = vectors.values, vectors.owners
    for i in np.flatnonzero(owners == row):
        for j in np.flatnonzero(owners != row):
            apart = float(np.linalg.norm(values[i] - values[j]))
            if apart and values[i].any() and values[j].any():
                best[int(owners[j])] = min(apart, best.get(int(owners[j]), np.inf))
    return sorted((apart, other) for other, apart in best.items())[:k]


@given(spaces(), st.integers(1, 12))
def test_each_row_once_where_it_is_nearest(texts: tuple[np.ndarray, np.ndarray], k: int) -> None:
    vectors = Vectors(*texts, "space", "data")
    rows = np.unique(vectors.owners)
    near = nearest_rows(vectors, rows, k, "l2")
    assert near.ids.shape[1] <= k
    for place, row in enumerate(rows):
        expected = by_hand(vectors, int(row), k)
        there = near.ids[place] >= 0
        assert np.allclose(near.distances[place][there], [apart for apart, _ in expected])
        assert (vectors.owners[near.texts[place][there]] == near.ids[place][there]).all()
        known = dict(map(reversed, by_hand(vectors, int(row), 99)))
        for other, apart in zip(near.ids[place][there], near.distances[place][there], strict=True):
            assert np.isclose(known[int(other)], apart)
        assert len(set(near.ids[place][there].tolist())) == there.sum()
        assert np.isinf(near.distances[place][~there]).all()


@pytest.mark.parametrize("many", [30, 300])
def test_a_row_of_many_texts_hides_nobody(many: int) -> None:
    """The texts nearest to others are all one row's: farther rows are neighbors all the same."""
    random = np.random.default_rng(0)
    crowd = random.normal(size=(many, 3)) / 100
    others = 1 + np.arange(20)[:, None] * [0.1, 0.2, 0.3]
    values = np.concatenate([crowd, others, -others]).astype(np.float32)
    owners = np.concatenate([np.zeros(many, int), np.arange(1, 21), np.arange(21, 41)])
    vectors = Vectors(values, owners, "space", "data")
    rows = np.array([0, 1, 5, 21, 40])
    near = nearest_rows(vectors, rows, 25, "l2")
    for place, row in enumerate(rows.tolist()):
        apart, ids = zip(*by_hand(vectors, row, 25), strict=True)
        assert near.ids[place].tolist() == list(ids)
        np.testing.assert_allclose(near.distances[place], apart, rtol=1e-5)


def test_rows_that_do_not_count_are_nobodys_neighbors() -> None:
    values = np.arange(1, 9, dtype=np.float32)[:, None] ** [1, 2]
    vectors = Vectors(values.astype(np.float32), np.arange(8) // 2, "space", "data")
    some = limited(vectors, np.array([True, False, True, True]))
    near = nearest_rows(some, np.arange(4), 5, "l2")
    assert near.ids[0].tolist() == [2, 3]
    assert near.ids[1].tolist() == [-1, -1]
    assert vectors.values.any(axis=1).all()  # the original is as it was


def test_recall_of_the_graph_counts_texts_with_content() -> None:
    values = np.random.default_rng(0).normal(size=(300, 8)).astype(np.float32)
    values[:20] = 0
    vectors = Vectors(values, np.arange(300), "space", "data")
    value, sample = graph_recall(vectors, 5, "l2", 1_000)
    assert value > 0.99
    assert sample == 280

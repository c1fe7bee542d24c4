from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from trope.errors import DataError
from trope.metrics.sorting import ordered, tie_priority, top

shapes = st.tuples(st.integers(0, 4), st.integers(0, 40))
many_ties = arrays.arrays(np.float32, shapes, elements=st.sampled_from([-1.5, -0.0, 0.0, 2.0]))
any_number = arrays.arrays(np.float32, shapes, elements=st.floats(width=32, allow_nan=False))


def by_lexsort(scores: np.ndarray, priority: np.ndarray) -> np.ndarray:
    """Each row by itself, in double precision."""
    rows = [np.lexsort((priority, -row.astype(np.float64))) for row in scores]
    return np.array(rows, np.int64).reshape(scores.shape)


@given(many_ties | any_number, st.integers(0, 9), st.integers(1, 50))
def test_equals_a_sort_by_score_and_priority(scores: np.ndarray, seed: int, k: int) -> None:
    priority = np.random.default_rng(seed).permutation(scores.shape[1])
    wanted = by_lexsort(scores, priority)
    assert np.array_equal(ordered(scores, priority), wanted)
    assert np.array_equal(top(scores, k, priority), wanted[:, :k])


@pytest.mark.parametrize("steps", [3, 40, 10**9])
def test_many_rows_and_items(steps: int) -> None:
    """Large enough for threads, and for every digit to differ."""
    random = np.random.default_rng(steps)
    scores = random.normal(size=(30, 3_000)).astype(np.float32)
    scores = (np.round(scores * steps) / steps).astype(np.float32)
    scores[0] *= 1e30
    scores[1] *= 1e-40  # numbers without a leading one
    priority = tie_priority(3_000)
    wanted = by_lexsort(scores, priority)
    assert np.array_equal(ordered(scores, priority), wanted)
    assert np.array_equal(top(scores, 100, priority), wanted[:, :100])
    assert np.array_equal(
        ordered(scores[:, ::2], tie_priority(1_500))[3],
        by_lexsort(scores[3:4, ::2], tie_priority(1_500))[0],
    )


def test_a_higher_score_comes_first_and_infinity_before_all() -> None:
    scores = np.array([[0.5, np.inf, -np.inf, 0.7, -0.7]], np.float32)
    assert ordered(scores, np.arange(5)).tolist() == [[1, 3, 0, 4, 2]]


def test_negative_zero_is_zero() -> None:
    scores = np.array([[0.0, -0.0, 0.0, -0.0]], np.float32)
    assert ordered(scores, np.array([3, 1, 2, 0])).tolist() == [[3, 1, 2, 0]]
    assert top(scores, 2, np.array([3, 1, 2, 0])).tolist() == [[3, 1]]


@pytest.mark.parametrize("sign", [1, -1])
def test_no_number_is_refused(sign: int) -> None:
    scores = np.zeros((3, 4), np.float32)
    scores[2, 1] = np.copysign(np.nan, sign)
    for sort in (ordered, lambda scores, priority: top(scores, 2, priority)):
        with pytest.raises(DataError, match="row 2 of the scores holds a value that is no number"):
            sort(scores, np.arange(4))


@pytest.mark.parametrize("priority", [[0, 0, 1], [1, 2, 3], [-1, 0, 1], [0, 1, 2**40]])
def test_a_priority_names_every_place_once(priority: list[int]) -> None:
    with pytest.raises(ValueError, match="each of 3 items a place of its own"):
        ordered(np.zeros((1, 3), np.float32), np.array(priority))


def test_ties_have_the_same_order_in_every_run() -> None:
    assert np.array_equal(tie_priority(1_000), tie_priority(1_000))
    assert np.array_equal(np.sort(tie_priority(1_000)), np.arange(1_000))
    assert abs(np.corrcoef(tie_priority(1_000), np.arange(1_000))[0, 1]) < 0.1

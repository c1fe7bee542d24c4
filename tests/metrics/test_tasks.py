from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trope.errors import DataError
from trope.metrics import Places, mean_rank_in_task, places, recall_in_task


def by_enumeration(wrong: list[float], right: float, ways: int, k: int) -> tuple[float, float]:
    """All draws of others, all orders of ties: the share of hits and the mean rank."""
    hits, ranks, count = 0.0, 0.0, 0
    for drawn in combinations(wrong, ways - 1):
        above = sum(score > right for score in drawn)
        tied = sum(score == right for score in drawn)
        for before in range(tied + 1):
            hits += (above + before < k) / (tied + 1)
            ranks += (above + before) / (tied + 1)
        count += 1
    return hits / count, ranks / count


@given(
    st.lists(st.integers(0, 5), min_size=4, max_size=8),
    st.integers(0, 5),
    st.integers(2, 5),
    st.integers(1, 3),
)
def test_expectation_over_all_draws(wrong: list[int], right: int, ways: int, k: int) -> None:
    scores = np.array([[*map(float, wrong), float(right)]])
    mask = np.zeros_like(scores, bool)
    mask[0, -1] = True
    found = places(lambda rows: scores[rows], lambda rows: mask[rows], 1, scores.shape[1])
    hits, rank = by_enumeration([float(s) for s in wrong], float(right), ways, k)
    assert recall_in_task(found, ways, k)[0] == pytest.approx(hits, abs=1e-9)
    assert mean_rank_in_task(found, ways)[0] == pytest.approx(rank, abs=1e-9)


def test_all_equal_scores_are_chance() -> None:
    found = Places(np.array([99]), np.array([0]), np.array([99]))
    assert recall_in_task(found, 5)[0] == pytest.approx(0.2)
    assert mean_rank_in_task(found, 5)[0] == pytest.approx(2.0)


def test_better_places_score_higher() -> None:
    found = Places(np.full(50, 60), np.arange(50), np.zeros(50, np.int64))
    assert (np.diff(recall_in_task(found, 20, 3)) < 1e-12).all()
    assert (np.diff(mean_rank_in_task(found, 20)) > 0).all()
    assert recall_in_task(found, 20)[0] == pytest.approx(1.0)


def test_other_right_items_are_no_distractors() -> None:
    scores = np.array([[0.1, 0.9, 0.5, 0.2]])
    right = np.array([[True, True, False, False]])
    found = places(lambda rows: scores[rows], lambda rows: right[rows], 1, 4)
    assert (found.others[0], found.above[0], found.tied[0]) == (2, 0, 0)


def test_blocks_are_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    scores, right = random.normal(size=(17, 9)), np.eye(17, 9, dtype=bool)
    right[9:, 0] = True
    whole = places(lambda rows: scores[rows], lambda rows: right[rows], 17, 9)
    monkeypatch.setattr("trope.metrics.counting.BLOCK", 20)
    parts = places(lambda rows: scores[rows], lambda rows: right[rows], 17, 9)
    assert np.array_equal(whole.above, parts.above)
    assert np.array_equal(whole.tied, parts.tied)
    assert np.array_equal(whole.others, parts.others)


def test_too_few_others() -> None:
    found = Places(np.array([3]), np.array([0]), np.array([0]))
    with pytest.raises(DataError, match="only 3 wrong items; 5-way tasks need 4"):
        recall_in_task(found, 5)

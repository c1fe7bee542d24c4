"""Intervals: their coverage, medians, clusters, queries that do not count."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trope.evaluation.intervals import _draws, _medians, _redrawn, summaries, summary
from trope.runtime import generator


@given(st.integers(0, 2**16), st.integers(1, 20))
def test_redrawn_statistics_are_those_of_plain_loops(seed: int, queries: int) -> None:
    random = np.random.default_rng(seed)
    table = random.integers(0, 4, (queries, 2)).astype(float)
    table[random.random(table.shape) < 0.2] = np.nan
    which = np.unique(random.integers(0, 5, queries), return_inverse=True)[1]
    groups = int(which.max()) + 1
    found = _redrawn(table, which, np.array([False, True]), 7, seed=3)
    (counts,) = _draws(groups, 7, generator(3, "bootstrap"))
    for draw in range(7):
        rows = [
            q
            for c in range(groups)
            for _ in range(counts[draw, c])
            for q in np.flatnonzero(which == c)
        ]
        for column, kind in enumerate((np.mean, np.median)):
            values = table[rows, column]
            values = values[~np.isnan(values)]
            wanted = kind(values) if len(values) else np.nan
            np.testing.assert_allclose(found[draw, column], wanted)


def test_blocks_of_draws_make_no_difference(monkeypatch: pytest.MonkeyPatch) -> None:
    values, clusters = np.random.default_rng(0).random(50), np.arange(50) // 3
    whole = summary(values, clusters)
    monkeypatch.setattr("trope.evaluation.intervals.BLOCK", 40)
    assert summary(values, clusters) == whole


@pytest.mark.parametrize(("groups", "least"), [(5, 0.88), (12, 0.92), (80, 0.925)])
def test_intervals_hold_the_truth(groups: int, least: float) -> None:
    random = np.random.default_rng(groups)
    hits = []
    for _ in range(400):
        sizes = random.integers(1, 5, groups)
        clusters = np.repeat(np.arange(groups), sizes)
        values = random.normal(size=groups)[clusters] + random.normal(size=len(clusters))
        found = summaries({"": values}, clusters, draws=300)[""]
        hits.append(found.low <= 0 <= found.high)
    assert least <= np.mean(hits) <= 0.985


def test_equal_queries_of_a_cluster_add_nothing() -> None:
    values = np.random.default_rng(0).random(40)
    alone = summary(values, np.arange(40))
    fivefold = summary(np.repeat(values, 5), np.repeat(np.arange(40), 5))
    assert fivefold.high - fivefold.low == pytest.approx(alone.high - alone.low)
    as_if = summary(np.repeat(values, 5))
    assert as_if.high - as_if.low < 0.6 * (alone.high - alone.low)


def test_medians_are_medians_and_lie_in_their_interval() -> None:
    values = np.array([1.0, 1, 1, 2, 50, 60])
    found = summary(values, median=True)
    assert found.value == 1.5
    assert 1 <= found.low <= 1.5 <= found.high <= 60
    odd = _medians(np.array([3.0, 1.0, 2.0]), np.array([[1, 1, 1], [3, 0, 0]]), np.arange(3))
    assert odd.tolist() == [2, 3]


def test_shares_stay_between_nothing_and_all() -> None:
    found = summary(np.array([1.0, 1.0, 1.0, 0.0]))
    assert 0 <= found.low < found.value < found.high <= 1


def test_queries_that_do_not_count_are_left_out() -> None:
    values = np.array([0.0, 1.0, np.nan, 1.0])
    assert summary(values).value == pytest.approx(2 / 3)
    assert np.isnan(summary(np.full(3, np.nan)).value)
    assert np.isnan(summary(np.full(3, np.nan), median=True).value)


def test_one_cluster_is_drawn_by_its_queries() -> None:
    found = summary(np.random.default_rng(0).random(30), np.zeros(30, int))
    assert found.low < found.value < found.high


def test_the_same_seed_gives_the_same_interval_and_names_do_not_matter() -> None:
    values = np.random.default_rng(0).random((2, 30))
    both = summaries({"a": values[0], "b": values[1]})
    assert both == summaries({"a": values[0], "b": values[1]})
    assert both["b"] == summary(values[1])
    assert summaries({}) == {}

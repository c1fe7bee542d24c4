"""Intervals: their coverage, medians, clusters, queries that do not count."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trope.evaluation.comparison import spread_of
from trope.evaluation.intervals import (
    Result,
    _draws,
    _medians,
    _redrawn,
    contrast,
    redrawn,
    summary,
    together,
)
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
        found = redrawn({"": values}, clusters, draws=300)[""].result()
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


def test_queries_that_all_agree_prove_less_than_all() -> None:
    """The rule of three, over clusters; an interval without bounds has no scale to go by."""
    clusters, share = np.repeat(np.arange(50), 2), (0.0, 1.0)
    assert summary(np.zeros(100), clusters, bounds=share) == Result(0.0, 0.0, 3 / 50)
    assert summary(np.ones(100), clusters, bounds=share) == Result(1.0, 1 - 3 / 50, 1.0)
    found = summary(np.full(100, 4.0), clusters, bounds=(1.0, 11.0))
    assert (found.low, found.high) == pytest.approx((3.4, 4.6))
    assert summary(np.zeros(100), clusters) == Result(0.0, 0.0, 0.0)
    some = np.where(np.arange(100) < 50, np.nan, 0.0)  # half of the clusters count
    assert summary(some, clusters, bounds=share).high == 3 / 25
    one = np.zeros(1_000)
    one[0] = 1
    assert summary(one, bounds=share).high < 0.01  # seen once: the draws tell


def test_a_median_that_all_share_moves_only_where_few_were_asked() -> None:
    for count, high in ((100, 1.0), (7, 1.0), (6, 6.0), (5, 7.0)):
        assert summary(np.ones(count), median=True, bounds=(1.0, 11.0)).high == pytest.approx(high)


def test_the_rule_of_three_holds_the_truth() -> None:
    """Of samples of a rare event that show none of it, and of all others."""
    random, rate, held = np.random.default_rng(0), 0.02, 0
    for _ in range(300):
        found = summary((random.random(60) < rate).astype(float), bounds=(0.0, 1.0))
        held += found.low <= rate <= found.high
    assert held >= 0.93 * 300


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
    once, again = (redrawn({"a": values[0], "b": values[1]}) for _ in range(2))
    assert [once[name].result() for name in "ab"] == [again[name].result() for name in "ab"]
    assert once["b"].result() == summary(values[1])
    assert redrawn({}) == {}


def test_clusters_are_those_that_hold_a_query_that_counts() -> None:
    """One cluster alone that counts would always be drawn whole: an interval of no width."""
    random = np.random.default_rng(0)
    clusters = np.arange(60) // 20
    values = np.where(clusters == 1, random.random(60), np.nan)
    found = redrawn({"few": values, "all": random.random(60)}, clusters)
    assert (found["few"].clusters, found["all"].clusters) == (20, 3)
    few = found["few"].result()
    alone = summary(values[clusters == 1])
    assert few.high - few.low == pytest.approx(alone.high - alone.low, rel=0.15)
    folds = np.repeat([0, 1], 30)  # the second fold has one cluster that counts
    values = np.where((clusters == 0) | (clusters == 1), random.random(60), np.nan)
    (folded,) = redrawn({"": values}, clusters, folds=folds).values()
    assert folded.clusters == 40
    assert folded.result().high - folded.result().low > 0.05


def planted(
    random: np.random.Generator, runs: int, groups: int, seeds: float, shared: float
) -> tuple[np.ndarray, np.ndarray]:
    """Values of runs on queries: chance between runs, between clusters, and of both."""
    clusters = np.repeat(np.arange(groups), random.integers(1, 5, groups))
    values = seeds * random.normal(size=(runs, 1)) + shared * random.normal(size=groups)[clusters]
    both = random.normal(size=(runs, groups))[:, clusters] / 2
    return values + both + random.normal(size=values.shape), clusters


@pytest.mark.parametrize(
    ("runs", "groups", "seeds", "shared"), [(5, 40, 0.4, 1.0), (3, 60, 0.5, 0.3), (8, 30, 0.0, 1.0)]
)
def test_intervals_of_several_runs_hold_the_truth(
    runs: int, groups: int, seeds: float, shared: float
) -> None:
    random = np.random.default_rng(runs)
    hits = []
    for _ in range(200):
        values, clusters = planted(random, runs, groups, seeds, shared)
        each = [redrawn({"": run}, clusters, draws=200)[""] for run in values]
        found = together(each).result()
        hits.append(found.low <= 0 <= found.high)
    assert 0.9 <= np.mean(hits) <= 0.995


def test_the_variance_between_runs_is_that_of_comparisons() -> None:
    values, clusters = planted(np.random.default_rng(0), 6, 80, 0.3, 1.0)
    drawn = together([redrawn({"": run}, clusters, draws=4_000)[""] for run in values])
    found, wanted = drawn.spread(), spread_of(values, clusters)
    assert found.runs == pytest.approx(wanted.runs)
    assert found.clusters == pytest.approx(wanted.clusters, rel=0.15)
    assert found.both == pytest.approx(wanted.both, rel=0.15)


def test_runs_that_differ_widen_the_interval_within_its_bounds() -> None:
    random = np.random.default_rng(0)
    hits = (random.random(200) < 0.9).astype(float)
    alike = together([redrawn({"": hits})[""]] * 3).result((0.0, 1.0))
    assert alike == redrawn({"": hits})[""].result((0.0, 1.0))
    worse = np.where(random.random(200) < 0.4, 0.0, hits)
    apart = together([redrawn({"": values})[""] for values in (hits, hits, worse)]).result(
        (0.0, 1.0)
    )
    assert apart.high - apart.low > 2 * (alike.high - alike.low)
    assert 0 <= apart.low <= apart.value <= apart.high <= 1


def test_differences_of_medians() -> None:
    random = np.random.default_rng(0)
    ranks = random.integers(1, 30, 300).astype(float)
    far, near, mixed = (
        redrawn({"": values}, None, {""})[""] for values in (ranks + 5, ranks, ranks[::-1])
    )
    found = contrast(far, near, 0.3, 30.0)
    assert found.difference == 5
    assert found.verdict == "better"  # larger
    assert contrast(near, far, 0.3, 30.0).verdict == "worse"
    assert contrast(near, mixed, 0.3, 30.0).verdict == "undecided"
    assert contrast(near, near, 0.3, 30.0, same=True).verdict == "equal"
    few = redrawn({"": np.ones(5)}, None, {""})[""]
    alike = contrast(few, few, 0.3, 30.0)
    assert (alike.verdict, alike.high) == ("undecided", pytest.approx(3 / 5 * 30))
    many = redrawn({"": np.ones(1_000)}, None, {""})[""]
    settled = contrast(many, many, 0.3, 30.0)  # three in a thousand move no median
    assert (settled.verdict, settled.low, settled.high) == ("equal", 0, 0)

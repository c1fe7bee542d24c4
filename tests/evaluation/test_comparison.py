"""Comparisons: the variance against plain loops, coverage and power by simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from trope.evaluation.comparison import Comparison, compare, spread_of


def simulated(
    random: np.random.Generator,
    runs: int,
    groups: int,
    *,
    seeds: float,
    stories: float,
    noise: float = 1.0,
    gap: float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Differences of runs on queries, with chance between runs and between clusters planted."""
    sizes = random.integers(1, 6, groups)
    clusters = np.repeat(np.arange(groups), sizes)
    by_run = seeds * random.normal(size=(runs, 1))
    by_story = stories * random.normal(size=groups)[clusters]
    both = random.normal(size=(runs, groups))[:, clusters] * stories / 2
    rest = noise * random.normal(size=(runs, len(clusters)))
    return gap + by_run + by_story + both + rest, clusters


def by_loops(gaps: np.ndarray, clusters: np.ndarray) -> tuple[float, float, float]:
    """The parts of the variance of the mean, cell by cell."""
    runs, queries = gaps.shape
    names, mean = sorted(set(clusters.tolist())), gaps.mean()
    groups = len(names)
    means = [row.mean() for row in gaps]
    totals = {
        (r, c): sum(gaps[r, q] - mean for q in range(queries) if clusters[q] == c)
        for r in range(runs)
        for c in names
    }
    shared = {c: sum(totals[r, c] for r in range(runs)) / runs for c in names}
    of_groups = groups / (groups - 1) * sum(s**2 for s in shared.values()) / queries**2
    if runs == 1:
        return 0.0, of_groups, 0.0
    of_runs = sum((m - mean) ** 2 for m in means) / (runs * (runs - 1))
    of_both = 0.0
    for r in range(runs):
        for c in names:
            size = sum(clusters == c)
            of_both += (totals[r, c] - shared[c] - size * (means[r] - mean)) ** 2
    of_both *= runs / (runs - 1) * groups / (groups - 1) / (runs * queries) ** 2
    return of_runs, of_groups, of_both


@given(st.integers(0, 2**16), st.integers(1, 4), st.integers(2, 6))
def test_the_variance_is_that_of_plain_loops(seed: int, runs: int, groups: int) -> None:
    random = np.random.default_rng(seed)
    gaps, clusters = simulated(random, runs, groups, seeds=0.5, stories=1.0)
    mixed = random.permutation(len(clusters))
    gaps, clusters = gaps[:, mixed], clusters[mixed] * 7 - 3
    found = spread_of(gaps, clusters)
    np.testing.assert_allclose(found[:3], by_loops(gaps, clusters), rtol=1e-9, atol=1e-15)
    assert found[3:] == (runs, groups)
    runs_t, clusters_t = (stats.t.ppf(0.975, max(n - 1, 1)) for n in (runs, groups))
    far = [runs_t**2 * found.runs * (runs > 1), clusters_t**2 * found.clusters]
    square = max(*far, sum(far) - stats.norm.ppf(0.975) ** 2 * found.both)
    assert found.reach(0.025) == pytest.approx(square**0.5, rel=1e-9)


def trials(times: int, runs: int, groups: int, **planted: float) -> list[Comparison]:
    random = np.random.default_rng([times, runs, groups])
    found = []
    for _ in range(times):
        gaps, clusters = simulated(random, runs, groups, **planted)  # type: ignore[arg-type]
        found.append(compare(gaps, np.zeros_like(gaps), clusters, least=0.0))
    return found


def covered(found: list[Comparison], truth: float) -> float:
    return float(np.mean([one.low <= truth <= one.high for one in found]))


@pytest.mark.parametrize(
    ("runs", "groups", "seeds", "stories"),
    [
        (10, 60, 0.3, 0.0),  # runs differ, stories do not
        (10, 60, 0.3, 1.0),  # both
        (10, 60, 0.0, 1.0),  # stories alone
        (5, 40, 0.15, 1.0),
        (3, 30, 0.5, 0.5),
        (2, 60, 0.3, 0.5),
        (1, 40, 0.0, 1.0),  # one run each: the clusters alone
        (1, 8, 0.0, 1.0),  # few clusters
    ],
)
def test_intervals_hold_the_truth_as_often_as_they_say(
    runs: int, groups: int, seeds: float, stories: float
) -> None:
    found = trials(1_000, runs, groups, seeds=seeds, stories=stories, gap=0.4)
    assert 0.92 <= covered(found, 0.4) <= 0.985


def test_queries_taken_for_independent_would_promise_too_much() -> None:
    """What the clusters are for: without them most intervals would miss."""
    random = np.random.default_rng(5)
    hits = []
    for _ in range(300):
        gaps, clusters = simulated(random, 1, 30, seeds=0.0, stories=3.0)
        one = compare(gaps, np.zeros_like(gaps), np.arange(len(clusters)))
        hits.append(one.low <= 0 <= one.high)
    assert np.mean(hits) < 0.85


@pytest.mark.parametrize(("runs", "groups"), [(1, 60), (10, 60), (5, 200)])
def test_a_detectable_difference_is_seen_four_times_out_of_five(runs: int, groups: int) -> None:
    planted = {"seeds": 0.2 if runs > 1 else 0.0, "stories": 0.5}
    size = float(np.median([one.detectable for one in trials(200, runs, groups, **planted)]))
    found = trials(600, runs, groups, **planted, gap=size)
    assert 0.72 <= np.mean([one.verdict == "better" for one in found]) <= 0.9


def test_false_alarms_are_rare() -> None:
    found = trials(1_000, 5, 50, seeds=0.3, stories=1.0)
    assert np.mean([one.verdict in ("better", "worse") for one in found]) <= 0.07


def test_direction_and_verdicts() -> None:
    random = np.random.default_rng(0)
    base = random.random((4, 200))
    clusters = np.arange(200) // 2
    noise = 0.01 * random.normal(size=base.shape)
    assert compare(base + 0.1 + noise, base, clusters).verdict == "better"
    assert compare(base, base + 0.1 + noise, clusters).verdict == "worse"
    assert compare(base + noise, base, clusters).verdict == "equal"
    far = 3 * random.normal(size=base.shape)
    assert compare(base + far, base, clusters).verdict == "undecided"
    mirrored, plain = (
        compare(base, base + 0.1 + noise, clusters),
        compare(base + 0.1 + noise, base, clusters),
    )
    assert mirrored.difference == pytest.approx(-plain.difference)
    assert mirrored.low == pytest.approx(-plain.high)
    assert mirrored.detectable == pytest.approx(plain.detectable)


def test_a_side_against_itself_is_equal() -> None:
    values = np.random.default_rng(0).random((3, 20))
    found = compare(values, values, np.arange(20))
    assert (found.difference, found.low, found.high, found.verdict) == (0, 0, 0, "equal")


def test_one_cluster_decides_nothing() -> None:
    values = np.random.default_rng(0).random((3, 20))
    found = compare(values + 1, values, np.zeros(20, int))
    assert (found.verdict, found.clusters, found.difference) == ("undecided", 1, pytest.approx(1))
    assert (found.low, found.high, found.detectable) == (-np.inf, np.inf, np.inf)


def test_queries_that_do_not_count_are_left_out() -> None:
    random = np.random.default_rng(0)
    left, right, clusters = random.random((2, 30)), random.random((2, 30)), np.arange(30) // 3
    whole = compare(left[:, :24], right[:, :24], clusters[:24])
    left[0, 24:27] = np.nan
    right[1, 27:] = np.nan
    assert compare(left, right, clusters) == whole
    nothing = compare(np.full((1, 3), np.nan), np.zeros((1, 3)), np.arange(3))
    assert (nothing.verdict, nothing.clusters) == ("undecided", 0)


@pytest.mark.parametrize("gap", [0.0, 0.1])
def test_what_few_clusters_do_not_show_is_not_thereby_absent(gap: float) -> None:
    """Two models that agree on eight stories may differ on the ninth."""
    values = np.random.default_rng(0).random((1, 16))
    found = compare(values + gap, values.copy(), np.arange(16) // 2)
    assert found.verdict == "undecided"
    assert (found.low, found.high) == (pytest.approx(gap - 3 / 8), pytest.approx(gap + 3 / 8))
    ranks = compare(values, values.copy(), np.arange(16) // 2, scale=50.0, least=0.5)
    assert ranks.high == pytest.approx(3 / 8 * 50)
    many = np.random.default_rng(0).random((1, 1_000))
    assert compare(many, many.copy(), np.arange(1_000)).verdict == "equal"


def test_weights_are_as_good_as_queries_asked_so_often() -> None:
    random = np.random.default_rng(0)
    gaps, clusters = simulated(random, 3, 12, seeds=0.3, stories=1.0)
    weights = random.integers(1, 4, len(clusters))
    often = np.repeat(np.arange(len(clusters)), weights)
    found = compare(gaps, np.zeros_like(gaps), clusters, weights=weights / 7)
    wanted = compare(gaps[:, often], np.zeros((3, len(often))), clusters[often])
    for name in ("difference", "low", "high", "detectable"):
        assert getattr(found, name) == pytest.approx(getattr(wanted, name)), name

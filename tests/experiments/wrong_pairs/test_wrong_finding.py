"""How well a list finds what is wrong, against scikit-learn, plain loops and simulation."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.metrics import average_precision_score

from trope.experiments.wrong_pairs.candidates import likeness
from trope.experiments.wrong_pairs.finding import by_chance, figures, interval
from trope.explain.wrong.sides import about_mean


@given(st.integers(0, 2**31), st.integers(20, 80))
def test_figures_are_those_of_plain_loops(seed: int, n: int) -> None:
    random = np.random.default_rng(seed)
    score, wrong = random.permutation(n).astype(float), np.zeros(n, bool)
    wrong[random.choice(n, random.integers(1, n), replace=False)] = True
    found = figures(score, wrong)
    assert found["ap"] == pytest.approx(average_precision_score(wrong, score))
    order = sorted(range(n), key=lambda i: -score[i])
    many = int(wrong.sum())
    assert found["precision"] == pytest.approx(sum(wrong[i] for i in order[:many]) / many)
    for depth in (5, 10, 20):
        first = order[: round(depth / 100 * n)]
        assert found[f"recall@{depth}%"] == pytest.approx(sum(wrong[i] for i in first) / many)


def test_the_best_and_the_worst_list() -> None:
    wrong = np.arange(100) < 5
    best = figures(-np.arange(100.0), wrong)
    assert set(best.values()) == {1.0}
    worst = figures(np.arange(100.0), wrong)
    assert worst["precision"] == worst["recall@20%"] == 0
    assert worst["ap"] < by_chance(5, 100)["ap"] < best["ap"]


def test_chance_is_what_random_lists_reach() -> None:
    random, wrong = np.random.default_rng(0), np.arange(60) < 6
    drawn = [figures(random.random(60), wrong) for _ in range(3_000)]
    for name, expected in by_chance(6, 60).items():
        assert np.mean([one[name] for one in drawn]) == pytest.approx(expected, rel=0.06)


def test_intervals_are_students() -> None:
    values = np.array([0.2, 0.3, 0.25, 0.4])
    low, high = stats.t.interval(0.95, 3, values.mean(), stats.sem(values))
    found = interval(values)
    assert (found["low"], found["high"]) == (pytest.approx(low), pytest.approx(high))
    assert interval(np.array([0.5]))["low"] is None
    assert interval(np.array([0.0, 0.9]))["low"] == 0
    assert interval(np.array([-0.9, 0.1]), least=-1.0)["low"] == -1


def test_likeness_is_a_correlation_over_all_others() -> None:
    random = np.random.default_rng(0)
    image = about_mean(random.normal(size=(15, 4)).astype(np.float32))
    text = about_mean((image @ random.normal(size=(4, 3))).astype(np.float32))
    found = likeness(image, text)
    for i in range(15):
        others = np.delete(np.arange(15), i)
        looks, meanings = image[others] @ image[i], text[others] @ text[i]
        assert found[i] == pytest.approx(np.corrcoef(looks, meanings)[0, 1], abs=1e-4)

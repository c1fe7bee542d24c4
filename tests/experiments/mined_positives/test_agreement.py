from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import spearmanr

from trope.experiments.mined_positives.agreement import (
    Estimate,
    Images,
    agreement,
    at_recall,
    draw,
    needed,
    recall,
    spearman,
)
from trope.experiments.mined_positives.places import Places

IMAGES = 6


def some_images(random: np.random.Generator, count: int) -> Images:
    return Images(random.integers(0, IMAGES, count), random.integers(0, IMAGES, count))


def pairs(seed: int, count: int = 40) -> tuple[np.ndarray, np.ndarray, Images]:
    """How likely each pair is among the mined at three numbers; positive; its images."""
    random = np.random.default_rng(seed)
    found = np.sort(random.random((count, 3)), axis=1)
    return found, random.random(count) < 0.5, some_images(random, count)


@given(st.integers(0, 99))
def test_shares_are_those_of_plain_loops(seed: int) -> None:
    found, positive, images = pairs(seed)
    draws = draw(IMAGES, 20, np.random.default_rng(seed))
    agreed, recalled = (f(found, positive, images, draws) for f in (agreement, recall))
    for b, weights in enumerate(draws):
        for k in range(3):
            true = mined = total = 0.0
            for n in range(len(found)):
                query, caption = images.query[n], images.caption[n]
                weight = weights[query] * (1 if query == caption else weights[caption])
                mined += weight * found[n, k]
                true += weight * found[n, k] * positive[n]
                total += weight * positive[n]
            if b == 0:
                assert agreed.value[k] == pytest.approx(true / mined)
                assert recalled.value[k] == pytest.approx(true / total)
            elif mined and total:
                assert agreed.drawn[b - 1, k] == pytest.approx(true / mined)
                assert recalled.drawn[b - 1, k] == pytest.approx(true / total)


def test_draws_draw_as_many_images_as_there_are() -> None:
    draws = draw(50, 300, np.random.default_rng(0))
    assert (draws[0] == 1).all()
    assert (draws.sum(axis=1) == 50).all()
    assert draws[1:].mean(axis=0) == pytest.approx(1, abs=0.3)
    assert draws[1:].var() == pytest.approx(1 - 1 / 50, abs=0.05)


def test_a_draw_is_the_pairs_of_all_copies_of_its_images() -> None:
    random = np.random.default_rng(0)
    found, positive, images = pairs(0)
    chosen = random.integers(0, IMAGES, IMAGES)
    draws = np.stack([np.ones(IMAGES), np.bincount(chosen, minlength=IMAGES)]).astype(float)
    copies = [
        n
        for a, one in enumerate(chosen)
        for b, other in enumerate(chosen)
        for n in range(len(found))
        if (images.query[n], images.caption[n]) == (one, other) and (a == b or one != other)
    ]
    drawn = agreement(found, positive, images, draws).drawn[0]
    assert drawn == pytest.approx((found * positive[:, None])[copies].sum(0) / found[copies].sum(0))


def test_intervals_are_as_wide_as_results_differ() -> None:
    """Pairs share the image of their query with some, and that of their caption with others."""
    random = np.random.default_rng(0)
    count, values, told = 40, [], []
    for _ in range(150):
        query, caption = random.integers(0, count, (2, 400))
        kind, other = random.normal(size=(2, count))
        positive = kind[query] + other[caption] + random.normal(size=400) > 0
        draws = draw(count, 100, random)
        found = agreement(np.ones((400, 1)), positive, Images(query, caption), draws)
        values.append(found.value[0])
        told.append(found.drawn.std())
    assert np.mean(told) == pytest.approx(np.std(values), rel=0.2)


@given(st.integers(0, 99), st.sampled_from([2, 5, 1000]))
def test_spearman_is_scipys_also_with_ties(seed: int, levels: int) -> None:
    random = np.random.default_rng(seed)
    ours = random.integers(0, levels, 60).astype(float)
    theirs = ours + random.integers(0, 4, 60)
    draws = draw(IMAGES, 10, random)
    found = spearman(ours, theirs, some_images(random, 60), draws)
    assert found.value[0] == pytest.approx(spearmanr(ours, theirs).statistic)
    assert found.low[0] <= found.high[0]


def test_constant_scores_have_no_correlation() -> None:
    draws = draw(IMAGES, 10, np.random.default_rng(0))
    images = some_images(np.random.default_rng(0), 30)
    found = spearman(np.ones(30), np.arange(30.0), images, draws)
    assert np.isnan([found.value[0], found.low[0], found.high[0]]).all()


def test_needed_is_the_first_number_that_finds_the_share() -> None:
    random = np.random.default_rng(0)
    above = np.sort(random.choice(2000, 50, replace=False))
    positive, images = random.random(50) < 0.6, some_images(random, 50)
    places = Places(np.zeros(50, np.float32), above, np.ones(50, int), above, np.ones(50, int))
    found = needed(places, positive, 0.5, images, draw(IMAGES, 100, random))
    want = 0.5 * positive.sum()
    first = next(n for n in range(1, 2001) if positive[above < n].sum() >= want)
    assert found.value[0] == pytest.approx(first, rel=0.05)
    assert found.low[0] < found.value[0] < found.high[0]


def test_intervals_hold_the_middle_and_differences_are_paired() -> None:
    random = np.random.default_rng(0)
    drawn = random.normal(size=(2000, 1))
    estimate = Estimate.of(np.zeros(1), drawn)
    assert estimate.low[0] == pytest.approx(-1.96, abs=0.15)
    assert estimate.high[0] == pytest.approx(1.96, abs=0.15)
    shifted = Estimate.of(np.ones(1), drawn + 1).minus(estimate)
    assert shifted.low[0] == pytest.approx(1)
    assert shifted.high[0] == pytest.approx(1)


def test_agreement_at_a_recall_is_read_between_points() -> None:
    agreed = Estimate.of(np.array([0.9, 0.7, 0.3]), np.array([[np.nan, 0.8, 0.4]] * 2))
    recalled = Estimate.of(np.array([0.2, 0.4, 1.0]), np.array([[0.1, 0.5, 0.9]] * 2))
    found = at_recall(agreed, recalled, 0.7)
    assert found.value[0] == pytest.approx(0.5)
    assert found.low[0] == found.high[0] == pytest.approx(0.6)


def test_no_mined_pair_means_no_share() -> None:
    draws = draw(IMAGES, 5, np.random.default_rng(0))
    found = agreement(np.zeros((4, 2)), np.ones(4, bool), Images(np.arange(4), np.arange(4)), draws)
    assert np.isnan(found.value).all()
    assert np.isnan(found.low).all()

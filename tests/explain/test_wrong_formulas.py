"""What witnesses foretell and how a pair stands, against plain loops."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trope.explain.wrong import regression
from trope.explain.wrong import standing as standings
from trope.explain.wrong.around import around, foretold
from trope.explain.wrong.regression import fitted, left_out
from trope.explain.wrong.scores import SCORES, WITNESSES, Hearing, hear
from trope.explain.wrong.sides import Sides, about_mean
from trope.explain.wrong.standing import outdone, standing


def units(random: np.random.Generator, n: int, d: int) -> np.ndarray:
    return about_mean(random.normal(size=(n, d)).astype(np.float32))


@given(st.integers(0, 2**31), st.integers(3, 20), st.integers(1, 6))
def test_a_standing_is_in_deviations_of_all_others(seed: int, n: int, d: int) -> None:
    random = np.random.default_rng(seed)
    p, q = random.normal(size=(n, d)), random.normal(size=(n, d))
    found = standing(p, q)
    for i in range(n):
        others = np.array([p[i] @ q[j] for j in range(n) if j != i])
        if others.std() > 1e-5:
            assert found[i] == pytest.approx((p[i] @ q[i] - others.mean()) / others.std(), rel=1e-6)


def test_a_standing_does_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(0)
    p, q, sample = random.normal(size=(9, 4)), random.normal(size=(9, 4)), np.array([1, 4, 8])
    whole = standing(p, q), outdone(p, q, sample)
    monkeypatch.setattr(standings, "BLOCK", 2)
    np.testing.assert_allclose(standing(p, q), whole[0])
    np.testing.assert_allclose(outdone(p, q, sample), whole[1])


def test_what_suits_stands_high_and_nothing_foretold_tells_nothing() -> None:
    q = units(np.random.default_rng(0), 30, 8)
    p = q.copy()
    p[1], p[3] = -q[1], 0
    found = standing(p, q)
    assert found[0] > 2
    assert found[1] < -2
    assert found[3] == 0
    assert not standing(p, np.ones_like(q)).any()  # all have the same


@given(st.integers(0, 2**31))
def test_shares_count_the_others_that_suit_better(seed: int) -> None:
    random = np.random.default_rng(seed)
    p, q = (
        random.integers(-2, 3, (8, 3)).astype(float),
        random.integers(-2, 3, (8, 3)).astype(float),
    )
    sample = np.sort(random.choice(8, 5, replace=False))
    found = outdone(p, q, sample)
    for i in range(8):
        others = [p[i] @ q[j] for j in sample if j != i]
        better = [1.0 if s > p[i] @ q[i] else 0.5 if s == p[i] @ q[i] else 0.0 for s in others]
        assert found[i] == pytest.approx(np.mean(better))


@pytest.mark.parametrize("d", [384, 1280])
def test_the_same_text_again_is_an_equal(d: int) -> None:
    """A few texts again and again: products that are equal count half, however they are summed."""
    random = np.random.default_rng(d)
    which, p = random.integers(0, 10, 700), units(random, 700, d)
    q = units(random, 10, d)[which]
    sample = np.sort(random.choice(700, 300, replace=False))
    found = outdone(p, q, sample)
    for i in range(0, 700, 7):
        others = sample[sample != i]
        scores = q.astype(np.float64) @ p[i].astype(np.float64)
        better = (scores[others] > scores[i]) & (which[others] != which[i])
        assert found[i] == pytest.approx(better.mean() + (which[others] == which[i]).mean() / 2)


@given(st.integers(0, 2**31), st.sampled_from([1, 3, 30]), st.sampled_from([0.1, 1.0, 10.0]))
def test_the_regression_has_not_seen_what_is_tied(seed: int, d: int, strength: float) -> None:
    """The closed form equals a fit of its own for every group; some are larger than d."""
    random = np.random.default_rng(seed)
    x, y = random.normal(size=(24, d)), random.normal(size=(24, 2))
    tied = random.choice([0, 0, 0, 1, 2, 3, 4, 5], 24)
    penalty = strength * np.trace(x.T @ x) / d
    found = left_out(x, y, tied, strength)
    for group in np.unique(tied):
        rest = tied != group
        b = np.linalg.solve(x[rest].T @ x[rest] + penalty * np.eye(d), x[rest].T @ y[rest])
        np.testing.assert_allclose(found[~rest], x[~rest] @ b, rtol=1e-4, atol=1e-5)


def test_the_regression_does_not_depend_on_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    x, y, tied = random.normal(size=(20, 4)), random.normal(size=(20, 3)), np.arange(20) // 2
    whole = left_out(x, y, tied, 1.0)
    monkeypatch.setattr(regression, "BLOCK", 8)
    np.testing.assert_allclose(left_out(x, y, tied, 1.0), whole, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(fitted(x, y, 1.0), x @ _ridge(x, y), rtol=1e-5, atol=1e-6)


def _ridge(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    square = x.T @ x
    return np.linalg.solve(square + np.trace(square) / len(square) * np.eye(len(square)), x.T @ y)


@pytest.mark.parametrize("size", [1, 2, 200])  # of groups; the last are fitted anew
def test_double_precision_takes_a_block_at_a_time(
    size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(regression, "BLOCK", 2**12)
    monkeypatch.setattr(standings, "BLOCK", 2**6)
    x = units(np.random.default_rng(0), 4_000, 64)
    y, tied, sample = x[::-1].copy(), np.arange(4_000) // size, np.arange(8)
    jobs = (
        lambda: left_out(x, y, tied, 1.0),
        lambda: fitted(x, y, 1.0),
        lambda: standing(x, y),
        lambda: outdone(x, y, sample),
    )
    for job in jobs:
        job()  # what is made once
        tracemalloc.start()
        job()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 1.8 * x.nbytes  # a result, at most, and little else


def test_what_was_seen_is_known_by_heart() -> None:
    random = np.random.default_rng(2)
    x, y = random.normal(size=(20, 40)), random.normal(size=(20, 3))
    close = np.abs(fitted(x, y, 1e-6) - y).mean()
    assert close < 0.01 < np.abs(left_out(x, y, np.arange(20), 1e-6) - y).mean()


@given(st.integers(0, 2**31), st.integers(1, 7))
def test_neighbors_are_the_nearest_that_are_not_tied(seed: int, k: int) -> None:
    random = np.random.default_rng(seed)
    vectors = units(random, 12, 3)
    vectors[5] = vectors[2]  # the same picture
    tied = random.integers(0, 8, 12)
    tied[[2, 5]] = 8, 9
    ids = around(vectors, tied, k)
    for i in range(12):
        apart = [j for j in range(12) if tied[j] != tied[i]]
        nearest = sorted(apart, key=lambda j: -float(vectors[i].astype(float) @ vectors[j]))[:k]
        assert ids[i][ids[i] >= 0].tolist() == nearest
    assert ids[2, 0] == 5
    assert ids[5, 0] == 2


def test_copies_of_a_pair_do_not_speak_for_it() -> None:
    vectors = units(np.random.default_rng(0), 6, 3)
    vectors[1] = vectors[2] = vectors[0]
    ids = around(vectors, np.array([0, 0, 1, 2, 3, 4]), 4)
    assert ids[0, 0] == 2
    assert 1 not in ids[0]


def test_copies_of_a_pair_take_no_place() -> None:
    """However often the pair itself is there, another text of its picture is found."""
    vectors = units(np.random.default_rng(0), 20, 3)
    vectors[:9] = vectors[0]
    tied = np.array([0] * 8 + list(range(1, 13)))
    ids = around(vectors, tied, 3)
    assert (ids[:8, 0] == 8).all()
    assert (ids[:8, 1:] > 8).all()
    assert set(ids[8].tolist()) <= set(range(8))


def test_neighbors_foretell_their_mean_and_nobody_nothing() -> None:
    other = np.arange(8, dtype=np.float32).reshape(4, 2)
    ids = np.array([[1, 2], [3, -1], [-1, -1], [0, 1]])
    expected = [(other[1] + other[2]) / 2, other[3], [0, 0], (other[0] + other[1]) / 2]
    np.testing.assert_allclose(foretold(ids, other), expected)


def planted(wrong: int = 12, n: int = 240, seed: int = 0) -> tuple[Sides, np.ndarray]:
    """Pictures and texts of 12 subjects, seen through two lenses; the first pairs are swapped."""
    random = np.random.default_rng(seed)
    subject = np.arange(n) % 12
    lens = random.normal(size=(2, 12, 20))
    image, text = (lens[side][subject] + 0.5 * random.normal(size=(n, 20)) for side in range(2))
    source = np.arange(n)
    source[:wrong] = np.roll(source[:wrong], 1)  # each has the text of another subject
    sides = Sides(
        about_mean(image.astype(np.float32)),
        about_mean(text[source].astype(np.float32)),
        np.arange(n),
    )
    return sides, source != np.arange(n)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("trust", [0.0, 0.3])
def test_every_score_is_higher_for_wrong_pairs(score: str, trust: float) -> None:
    sides, wrong = planted()
    told = hear(sides, Hearing(trust=trust), np.arange(len(wrong)), score)
    assert told.standing.keys() == set(SCORES[score])
    found = told.score(score)
    assert np.median(found[wrong]) > np.quantile(found[~wrong], 0.9)


def test_all_witnesses_together_find_the_wrong_pairs() -> None:
    sides, wrong = planted()
    found = hear(sides, Hearing(), np.arange(len(wrong)))
    assert set(np.argsort(-found.score())[: wrong.sum()]) == set(np.flatnonzero(wrong))
    for witness in WITNESSES:
        assert found.outdone[witness][wrong].mean() > 0.5 > found.outdone[witness][~wrong].mean()


def test_a_pair_is_believed_where_a_witness_says_little() -> None:
    """Trust lifts a pair about which hardly anything is foretold, not one that is contradicted."""
    q = units(np.random.default_rng(0), 30, 8)
    p = q.copy()
    p[0], p[1] = -0.01 * q[0], -q[1]
    plain, trusting = standing(p, q), standing(p + np.float32(0.3) * q, q)
    assert plain[0] == pytest.approx(standing(-q, q)[0], rel=1e-3)
    assert trusting[0] > 2
    assert trusting[1] < -2

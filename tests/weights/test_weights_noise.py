"""Density of pairs in two frozen spaces, against loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trope.runtime import generator
from trope.weights.noise import Density, density, moments


def by_hand(look: np.ndarray, meaning: np.ndarray, groups: np.ndarray, k: int) -> list[float]:
    n, spaces = len(look), []
    for vectors in (look, meaning):
        unit = [v / np.linalg.norm(v) for v in vectors]
        cosines = [[float(a @ b) for b in unit] for a in unit]
        others = [cosines[i][j] for i in range(n) for j in range(n) if i != j]
        mean = math.fsum(others) / len(others)
        sd = math.sqrt(math.fsum((c - mean) ** 2 for c in others) / len(others))
        spaces.append([[(c - mean) / sd for c in row] for row in cosines])
    found = []
    for i in range(n):
        near = [min(spaces[0][i][j], spaces[1][i][j]) for j in range(n)
                if not (groups[:, i] == groups[:, j]).any()]  # fmt: skip
        near.sort(reverse=True)
        found.append(near[min(k, len(near)) - 1] if near else -math.inf)
    some = [value for value in found if value > -math.inf]
    low, high = min(some), max(some)
    return [max((v - low) / (high - low), 0.0) if v > -math.inf else 0.0 for v in found]


def drawn(n: int, seed: int, kinds: int = 1_000) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    groups = np.stack([random.integers(kinds, size=n), np.arange(n)])
    if kinds >= 1_000:
        groups[0] = np.arange(n)
    return random.normal(size=(n, 4)), random.normal(size=(n, 6)), groups


@settings(max_examples=20)
@given(st.integers(4, 14), st.integers(1, 4), st.integers(0, 2**31), st.sampled_from([3, 1_000]))
def test_it_is_the_formula(n: int, k: int, seed: int, kinds: int) -> None:
    look, meaning, groups = drawn(n, seed, kinds)
    if (groups[0] == groups[0][0]).all():
        return
    expected = by_hand(look, meaning, groups, k)
    assert density(look, meaning, groups, k).tolist() == pytest.approx(expected, abs=1e-9)


def test_with_many_pairs_only_near_ones_are_compared() -> None:
    """As many neighbors are looked at as there are pairs: the same figures."""
    look, meaning, groups = drawn(60, 5)
    whole = density(look, meaning, groups, 3)
    part = density(look, meaning, groups, 3, exact=10)
    assert part == pytest.approx(whole, abs=1e-6)


def test_moments_of_cosines_that_are_never_made() -> None:
    vectors = np.random.default_rng(0).normal(size=(30, 4))
    unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = (unit @ unit.T)[~np.eye(30, dtype=bool)]
    assert moments(unit) == pytest.approx((cosines.mean(), cosines.std()))


def test_tight_clusters_of_both_modalities_weigh_more() -> None:
    random = np.random.default_rng(0)
    cluster = np.repeat(np.arange(6), 20)
    centers = random.normal(size=(2, 6, 16))
    look, meaning = (c[cluster] + 0.2 * random.normal(size=(120, 16)) for c in centers)
    look[cluster == 0] = random.normal(size=(20, 16))  # these do not agree in their looks
    found = density(look, meaning, np.arange(120)[None], 5)
    assert found[cluster > 0].min() > found[cluster == 0].max()
    weights = Density(k=5).over(
        {"density": found}, np.arange(120).reshape(6, 20), generator(0, "x")
    )
    assert weights[1:].mean() > 2 * weights[0].mean()


def test_pairs_that_are_all_the_same_weigh_alike() -> None:
    look, meaning, _ = drawn(5, 0)
    assert density(look, meaning, np.zeros((1, 5), int), 2).tolist() == [1.0] * 5

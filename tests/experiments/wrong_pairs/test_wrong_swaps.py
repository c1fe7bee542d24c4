"""Who exchanges texts with whom."""

from __future__ import annotations

import numpy as np
import pytest

from trope.experiments.wrong_pairs.swaps import among_neighbors, at_random, within_groups


def check(source: np.ndarray, count: int) -> np.ndarray:
    """Two and two exchange; nobody has two partners. Returns those who do."""
    rows = np.arange(len(source))
    np.testing.assert_array_equal(source[source], rows)
    moved = np.flatnonzero(source != rows)
    assert len(moved) == count
    return moved


def test_at_random_two_of_different_components_exchange() -> None:
    components = np.repeat(np.arange(10), 20)
    drawn = set()
    for seed in range(20):
        source = at_random(components, 20, np.random.default_rng(seed))
        moved = check(source, 20)
        assert (components[moved] != components[source[moved]]).all()
        drawn |= set(moved.tolist())
    assert len(drawn) > 150
    assert len(check(at_random(np.zeros(30, int), 10, np.random.default_rng(0)), 0)) == 0


def test_neighbors_exchange_with_neighbors() -> None:
    random = np.random.default_rng(0)
    ids = np.stack(
        [random.choice(np.delete(np.arange(60), i), 4, replace=False) for i in range(60)]
    )
    ids[:, 3] = -1
    source = among_neighbors(ids, 12, np.random.default_rng(1))
    for row in check(source, 12):
        assert source[row] in ids[row] or row in ids[source[row]]
    check(among_neighbors(np.full((5, 2), -1), 4, random), 0)


def test_within_a_group_pictures_and_texts_differ() -> None:
    groups = np.repeat(np.arange(12), 5)
    pictures, texts = np.arange(60), np.arange(60)
    pictures[:5], texts[5:10] = 0, 5  # nothing to exchange in the first two groups
    source = within_groups(groups, pictures, texts, 14, np.random.default_rng(0))
    moved = check(source, 14)
    assert (groups[moved] == groups[source[moved]]).all()
    assert moved.min() >= 10
    check(within_groups(np.arange(9), np.arange(9), np.arange(9), 4, np.random.default_rng(0)), 0)


@pytest.mark.parametrize("seed", range(3))
def test_the_seed_decides(seed: int) -> None:
    components = np.arange(50)
    one, again, other = (
        at_random(components, 10, np.random.default_rng(s)) for s in (seed, seed, 9)
    )
    np.testing.assert_array_equal(one, again)
    assert (one != other).any()

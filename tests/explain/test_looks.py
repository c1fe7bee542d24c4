"""How alike pictures look: cosines and ranks against plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from trope.explain import looks as module
from trope.explain.looks import Looks


@pytest.fixture
def looks() -> Looks:
    values = np.random.default_rng(3).normal(size=(30, 5)).astype(np.float32)
    values[7] = values[4]  # the same picture
    values[11] = 0  # no picture
    usable = values.any(axis=1)
    usable[12] = False  # a picture, but no text
    return Looks.of(values, usable)


@pytest.mark.parametrize("block", [1, 64, 2**24])
def test_ranks_are_counted(looks: Looks, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK", block)
    rows = np.array([0, 4, 20, 29])
    ids = np.array([[1, 2, 3], [7, 9, -1], [28, 4, 7], [0, 1, 2]])
    seen = looks.compare(rows, ids, 5)
    for i, row in enumerate(rows):
        expected = ranks_of(looks, int(row))
        assert seen.chance[i] == np.mean([rank <= 5 for rank in expected.values()])
        for j, other in enumerate(ids[i].tolist()):
            if other < 0:
                assert np.isnan(seen.cosines[i, j])
                assert (seen.ranks[i, j], seen.alike[i, j]) == (0, False)
                continue
            assert seen.cosines[i, j] == pytest.approx(cosine(looks, row, other), abs=1e-6)
            assert seen.ranks[i, j] == expected[other]
            assert seen.alike[i, j] == (expected[other] <= 5)
    assert seen.ranks[1, 0] == 1  # the same picture looks most alike
    assert seen.ranks[2, 1] == seen.ranks[2, 2]


def cosine(looks: Looks, one: int, other: int) -> float:
    left, right = (looks.unit[looks.picture[row]].tolist() for row in (one, other))
    return math.fsum(x * y for x, y in zip(left, right, strict=True))


def ranks_of(looks: Looks, row: int) -> dict[int, int]:
    """The ranks of all others as seen from a row: one more than how many look more alike."""
    cosines = {c: cosine(looks, row, c) for c in np.flatnonzero(looks.usable).tolist() if c != row}
    return {c: 1 + sum(more > mine for more in cosines.values()) for c, mine in cosines.items()}


def test_the_same_picture_has_one_rank() -> None:
    """Products of long vectors are rounded differently in different places."""
    values = np.random.default_rng(0).normal(size=(301, 1_280)).astype(np.float32)
    copies = np.arange(0, 300, 3)
    values[copies] = values[0]
    looks = Looks.of(values, np.ones(301, bool))
    rows = np.setdiff1d(np.arange(301), copies)[:100]
    seen = looks.compare(rows, np.tile(copies, (100, 1)), 15)
    assert (seen.ranks == seen.ranks[:, :1]).all()
    assert (seen.cosines == seen.cosines[:, :1]).all()


def test_chance_is_what_random_neighbors_get() -> None:
    """Also where every fifth row has one placeholder for a picture."""
    random = np.random.default_rng(0)
    values = random.normal(size=(400, 16)).astype(np.float32)
    values[::5] = values[0]
    looks = Looks.of(values, np.ones(400, bool))
    rows = np.arange(400)
    ids = np.array([[i for i in range(400) if i != row] for row in rows])
    seen = looks.compare(rows, ids, 19)
    assert seen.alike.mean() == pytest.approx(seen.chance.mean())
    assert seen.chance.mean() > 1.5 * 19 / 399


def test_the_most_alike_come_first_and_never_what_does_not_count(looks: Looks) -> None:
    found, cosines = looks.most_alike(4, 100)
    assert found[0] == 7
    assert cosines == sorted(cosines, reverse=True)
    assert len(found) == looks.others == 27
    assert not {4, 11, 12} & set(found)
    assert looks.same(4, 7)
    assert not looks.same(4, 5)
    ids = np.array([found])
    assert looks.compare(np.array([4]), ids, 1).ranks.tolist() == [list(range(1, 28))]

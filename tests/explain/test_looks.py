"""How alike pictures look: cosines and ranks against plain loops."""

from __future__ import annotations

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
    ids = np.array([[1, 2, 3], [7, 9, -1], [28, 29, 0], [0, 1, 2]])
    cosines, ranks = looks.compare(rows, ids)
    for i, row in enumerate(rows):
        others = [c for c in np.flatnonzero(looks.usable) if c != row]
        for j, other in enumerate(ids[i]):
            if other < 0:
                assert np.isnan(cosines[i, j])
                assert ranks[i, j] == 0
                continue
            mine = float(looks.unit[row] @ looks.unit[other])
            more = sum(float(looks.unit[row] @ looks.unit[c]) > mine + 1e-6 for c in others)
            assert cosines[i, j] == pytest.approx(mine, abs=1e-6)
            assert ranks[i, j] == more + 1
    assert ranks[1, 0] == 1  # the same picture looks most alike


def test_the_most_alike_come_first_and_never_what_does_not_count(looks: Looks) -> None:
    found, cosines = looks.most_alike(4, 100)
    assert found[0] == 7
    assert cosines == sorted(cosines, reverse=True)
    assert len(found) == looks.others == 27
    assert not {4, 11, 12} & set(found)
    assert looks.same(4, 7)
    assert not looks.same(4, 5)
    ids = np.array([found])
    assert looks.compare(np.array([4]), ids)[1].tolist() == [list(range(1, 28))]

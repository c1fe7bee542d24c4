"""What scores are like: against numpy's own, and in the direction that is meant."""

from __future__ import annotations

import numpy as np
import pytest

from trope.weights.condition import condition, steadiness


def scores(seed: int = 0) -> dict[str, np.ndarray]:
    random = np.random.default_rng(seed)
    return {name: random.normal(size=(2, 50)) for name in ("diversity", "discrepancy")}


def test_as_numpy_has_it() -> None:
    known = scores()
    found = condition(known)
    deviations = [known[name][side].std() for name in known for side in (0, 1)]
    together = [np.corrcoef(known[name])[0, 1] for name in known]
    assert found["deviation"] == pytest.approx(np.mean(deviations))
    assert found["agreement"] == pytest.approx(np.mean(together))


def test_steadiness_as_numpy_has_it() -> None:
    before, now = scores(0), scores(1)
    each = [
        np.corrcoef(before[name][side], now[name][side])[0, 1] for name in now for side in (0, 1)
    ]
    assert steadiness(before, now) == pytest.approx(np.mean(each))


def test_directions() -> None:
    one = np.linspace(0, 1, 20)
    assert condition({"diversity": np.stack([one, 2 * one])})["agreement"] == pytest.approx(1)
    assert condition({"diversity": np.stack([one, -one])})["agreement"] == pytest.approx(-1)
    known = scores()
    assert steadiness(known, known) == pytest.approx(1)
    assert steadiness(known, {name: -array for name, array in known.items()}) == pytest.approx(-1)


def test_scores_that_are_all_equal_go_with_nothing() -> None:
    assert condition({"diversity": np.ones((2, 5))}) == {"deviation": 0.0, "agreement": 0.0}

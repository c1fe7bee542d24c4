from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, precision_recall_curve

from trope.metrics import Block
from trope.metrics.precision import MAP, MAPAtR, RPrecision


def by_loops(order: np.ndarray, right: np.ndarray) -> tuple[float, float, float]:
    """R-precision, mAP@R and mAP of one query, from the definitions."""
    count, total, cut, hits = int(right.sum()), 0.0, 0.0, 0
    for place, item in enumerate(order, 1):
        if right[item]:
            hits += 1
            total += hits / place
            cut += hits / place if place <= count else 0.0
    return sum(right[order[:count]]) / count, cut / count, total / count


@given(seed=st.integers(0, 2**32), items=st.integers(1, 20), values=st.sampled_from([0, 3]))
def test_equal_loops_over_the_order(
    drawn: Callable[..., Block], seed: int, items: int, values: int
) -> None:
    block = drawn(seed, items=items, values=values)
    found = RPrecision()(block) | MAPAtR()(block) | MAP()(block)
    right = block.right.toarray()
    for query in range(len(block)):
        mine = [found[name][query] for name in ("r-precision", "map@r", "map")]
        if right[query].any():
            assert mine == pytest.approx(by_loops(block.order[query], right[query]))
        else:
            assert np.isnan(mine).all()


def test_equal_scikit_learn(drawn: Callable[..., Block]) -> None:
    """R-precision is the point of its curve where as many items are taken as are right."""
    block = drawn(1, queries=40, items=300)
    average, precision = MAP()(block)["map"], RPrecision()(block)["r-precision"]
    for query in np.flatnonzero(block.positives):
        scores = block.items - np.argsort(block.order[query])
        right = block.right[[query]].toarray()[0]
        assert average[query] == pytest.approx(average_precision_score(right, scores))
        curve = precision_recall_curve(right, scores)[0]
        assert len(curve) == block.items + 1
        assert precision[query] == pytest.approx(curve[block.items - right.sum()])


def test_a_worked_example(block_of: Callable[..., Block]) -> None:
    """Right items at places 1, 3 and 6 of 6."""
    block = block_of(np.array([[6, 5, 4, 3, 2, 1]]), np.array([[1, 0, 1, 0, 0, 1]]))
    assert RPrecision()(block)["r-precision"][0] == pytest.approx(2 / 3)
    assert MAPAtR()(block)["map@r"][0] == pytest.approx((1 + 2 / 3) / 3)
    assert MAP()(block)["map"][0] == pytest.approx((1 + 2 / 3 + 3 / 6) / 3)

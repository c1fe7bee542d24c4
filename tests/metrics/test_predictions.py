from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from trope.errors import DataError, UsageError
from trope.metrics.predictions import (
    best_threshold,
    chosen,
    macro_f1,
    macro_parts,
    micro_f1,
    micro_parts,
)


@given(
    st.integers(0, 2**32),
    st.integers(2, 30),
    st.integers(2, 8),
    st.floats(0.1, 0.9),
)
def test_equal_scikit_learn(seed: int, items: int, labels: int, threshold: float) -> None:
    random = np.random.default_rng(seed)
    scores, truth = random.random((items, labels)), random.random((items, labels)) < 0.3
    truth[0, 0] = True
    predicted = scores >= threshold
    micro = f1_score(truth, predicted, average="micro")
    macro = f1_score(truth, predicted, average="macro", zero_division=np.nan)
    assert micro_f1(scores, truth, threshold) == pytest.approx(micro)
    assert macro_f1(scores, truth, threshold) == pytest.approx(macro)


def test_parts_have_its_mean_and_vary_as_it_does() -> None:
    """Redrawn items give other ratios; the parts know how far apart these are."""
    random = np.random.default_rng(0)
    scores, truth = random.random((400, 7)), random.random((400, 7)) < 0.3
    scores[::3] = 0.9 * truth[::3] + 0.1 * scores[::3]  # of some items more is known
    predicted = chosen(scores, 0.6)
    for parts, whole in ((micro_parts, micro_f1), (macro_parts, macro_f1)):
        each = parts(predicted, truth)
        assert each.mean() == pytest.approx(whole(scores, truth, 0.6))
        again = [random.integers(400, size=400) for _ in range(2_000)]
        drawn = [whole(scores[some], truth[some], 0.6) for some in again]
        assert each.std() / 20 == pytest.approx(np.std(drawn), rel=0.08)


def test_the_best_threshold_is_the_best_of_all() -> None:
    random = np.random.default_rng(1)
    truth = random.random((40, 5)) < 0.4
    scores = np.round(truth * 0.3 + random.random((40, 5)) * 0.7, 2)
    tried = max(micro_f1(scores, truth, value) for value in np.unique(scores))
    assert micro_f1(scores, truth, best_threshold(scores, truth)) == tried


def test_better_predictions_score_higher() -> None:
    truth = np.eye(4, dtype=bool)
    assert micro_f1(truth.astype(float), truth) == macro_f1(truth.astype(float), truth) == 1.0
    assert micro_f1(1.0 - truth, truth) == macro_f1(1.0 - truth, truth) == 0.0


def test_nothing_there_and_nothing_predicted() -> None:
    empty = np.zeros((3, 2))
    assert np.isnan(micro_f1(empty, empty > 0))
    assert np.isnan(macro_f1(empty, empty > 0))


def test_numbers_only() -> None:
    scores = np.zeros((3, 2))
    scores[2, 0] = np.nan
    with pytest.raises(DataError, match="item 2: "):
        micro_f1(scores, scores > 1)
    with pytest.raises(UsageError, match="threshold"):
        micro_f1(np.zeros((3, 2)), scores > 1, np.nan)

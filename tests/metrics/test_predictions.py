from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import f1_score

from trope.errors import DataError, UsageError
from trope.metrics.predictions import agreement, best_threshold, chosen, macro_f1, micro_f1


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


def test_parts_add_up_to_the_whole() -> None:
    random = np.random.default_rng(0)
    scores, truth = random.random((50, 7)), random.random((50, 7)) < 0.3
    parts = agreement(chosen(scores, 0.6), truth)
    assert parts.found.sum() / parts.total.sum() == micro_f1(scores, truth, 0.6)
    some = slice(10, 30)
    assert parts.found[some].sum() / parts.total[some].sum() == pytest.approx(
        micro_f1(scores[some], truth[some], 0.6)
    )


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

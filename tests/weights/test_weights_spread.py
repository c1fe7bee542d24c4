"""Softmax, effective size, standard scores and the temperature that is asked for."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from weight_samples import softmax as by_hand

from trope.weights.spread import effective, ranks, softmax, standard, tempered

rows = st.lists(st.floats(-5, 5), min_size=2, max_size=9)


@given(rows)
def test_softmax_and_effective_size(values: list[float]) -> None:
    shares = by_hand(values)
    assert softmax(np.array(values)).tolist() == pytest.approx(shares)
    size = math.fsum(shares) ** 2 / math.fsum(w * w for w in shares) / len(shares)
    assert float(effective(np.array(shares))) == pytest.approx(size)


def test_scores_of_any_size() -> None:
    assert softmax(np.array([1e4, 1e4, -1e4])).tolist() == [0.5, 0.5, 0.0]


@given(rows)
def test_standard_scores(values: list[float]) -> None:
    mean = math.fsum(values) / len(values)
    deviation = math.sqrt(math.fsum((v - mean) ** 2 for v in values) / len(values))
    found = standard(np.array(values))
    if deviation > 1e-9:
        assert found.tolist() == pytest.approx([(v - mean) / deviation for v in values], abs=1e-6)
    assert np.isfinite(found).all()


@given(rows)
def test_places(values: list[float]) -> None:
    n = len(values)
    expected = [
        (sum(v < one for v in values) + (sum(v == one for v in values) - 1) / 2 + 0.5) / n
        for one in values
    ]
    assert ranks(np.array(values)).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("share", [0.3, 0.7, 0.95, 1.0])
def test_the_effective_size_is_the_share_in_every_batch(share: float) -> None:
    random = np.random.default_rng(0)
    scores = random.normal(size=(20, 64)) * random.uniform(0.01, 10, (20, 1))
    found = tempered(scores, share)
    assert effective(found) == pytest.approx(np.full(20, share), abs=1e-6)
    assert found.sum(axis=1) == pytest.approx(np.ones(20))
    assert all((np.argsort(a) == np.argsort(b)).all() for a, b in zip(found, scores, strict=True)
               if share < 1)  # fmt: skip


def test_equal_scores_stay_equal() -> None:
    assert tempered(np.full((1, 4), 0.3), 0.5).tolist() == [[0.25] * 4]
    two = tempered(np.array([[1.0, 1.0, 0.0, 0.0]]), 0.25)  # no smaller than the two largest
    assert two[0] == pytest.approx([0.5, 0.5, 0.0, 0.0])

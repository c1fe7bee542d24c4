"""Similarities of encoded items against plain loops."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from trope.maths import normalize
from trope.similarity import (
    own_scores_of,
    paired_similarity,
    scores_of,
    similarity,
    summed_similarity,
)
from trope.views import Encoded, View


def items(n: int, senses: int, random: torch.Generator) -> Encoded:
    mean = normalize(torch.randn(n, 4, generator=random, dtype=torch.float64))
    points = normalize(torch.randn(n, senses, 4, generator=random, dtype=torch.float64))
    return Encoded(mean, points if senses > 1 else None)


@settings(max_examples=30)
@given(
    n=st.integers(1, 4),
    m=st.integers(1, 4),
    senses=st.sampled_from([(1, 1), (2, 2), (3, 2), (1, 3)]),
    seed=st.integers(0, 2**31),
)
def test_it_is_the_best_cosine(n: int, m: int, senses: tuple[int, int], seed: int) -> None:
    random = torch.Generator().manual_seed(seed)
    left, right = items(n, senses[0], random), items(m, senses[1], random)
    found = similarity(left, right)
    assert found.shape == (n, m)
    for i in range(n):
        for j in range(m):
            several = left.points is not None and right.points is not None
            ones = left.points[i] if several else left.mean[i : i + 1]  # type: ignore[index]
            others = right.points[j] if several else right.mean[j : j + 1]  # type: ignore[index]
            expected = max((a @ b).item() for a in ones for b in others)
            assert found[i, j].item() == pytest.approx(expected, abs=1e-12)
    place = torch.full((n, m), torch.nan, dtype=torch.float64)
    assert similarity(left, right, out=place) is place
    assert torch.equal(place, found)


@settings(max_examples=30)
@given(n=st.integers(1, 5), senses=st.sampled_from([1, 3]), seed=st.integers(0, 2**31))
def test_pairs_are_the_diagonal(n: int, senses: int, seed: int) -> None:
    random = torch.Generator().manual_seed(seed)
    left, right = items(n, senses, random), items(n, senses, random)
    assert torch.allclose(paired_similarity(left, right), similarity(left, right).diagonal())


@settings(max_examples=30)
@given(n=st.integers(1, 5), senses=st.sampled_from([1, 3]), seed=st.integers(0, 2**31))
def test_partners_are_added(n: int, senses: int, seed: int) -> None:
    random = torch.Generator().manual_seed(seed)
    left, partner, right = (items(count, senses, random) for count in (n, n, 3))
    expected = similarity(left, right) + similarity(partner, right)
    assert torch.allclose(summed_similarity(left, partner, right), expected)


def test_it_is_symmetric_and_the_best_sense_gets_the_gradient() -> None:
    random = torch.Generator().manual_seed(0)
    left, right = items(3, 2, random), items(3, 2, random)
    assert torch.allclose(similarity(left, right), similarity(right, left).T)
    assert left.points is not None
    points = left.points.clone().requires_grad_()
    similarity(Encoded(left.mean, points), right)[0, 0].backward()
    assert points.grad is not None
    assert (points.grad.abs().sum(dim=2) > 0).sum() == 1


def test_a_model_may_compare_a_batch_itself() -> None:
    random = torch.Generator().manual_seed(0)
    image, text = items(3, 2, random), items(3, 2, random)
    view = View(image, text, torch.eye(3, dtype=torch.bool))
    torch.testing.assert_close(scores_of(view), similarity(image, text))
    torch.testing.assert_close(own_scores_of(view), similarity(image, text).diagonal())
    own = replace(view, scores=torch.arange(9.0).view(3, 3))
    assert scores_of(own).tolist() == [[0, 1, 2], [3, 4, 5], [6, 7, 8]]
    assert own_scores_of(own).tolist() == [0, 4, 8]


def test_chosen_items_keep_all_they_have() -> None:
    encoded = items(4, 2, torch.Generator().manual_seed(1))
    some = encoded.take(torch.tensor([2, 0]))
    assert encoded.points is not None
    assert some.points is not None
    assert some.mean.tolist() == encoded.mean[[2, 0]].tolist()
    assert some.points.tolist() == encoded.points[[2, 0]].tolist()
    assert some.residuals is None

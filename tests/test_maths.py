"""Tensor operations against plain loops, and where they are delicate."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from trope.maths import distance, log_odds, log_one_plus_sum_exp, log_softmax, normalize

sizes = st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**31))


def drawn(n: int, m: int, seed: int) -> tuple[Tensor, Tensor]:
    random = torch.Generator().manual_seed(seed)
    values = 10 * torch.randn(n, m, generator=random, dtype=torch.float64)
    return values, torch.rand(n, m, generator=random) < 0.7


def test_rows_have_length_one_and_zeros_stay() -> None:
    rows = normalize(torch.tensor([[3.0, 4.0], [0.0, 0.0], [1e-5, 0.0]]))
    assert torch.allclose(rows, torch.tensor([[0.6, 0.8], [0.0, 0.0], [1.0, 0.0]]))
    assert normalize(torch.randn(2, 3, 4)).norm(dim=-1).tolist() == [pytest.approx([1] * 3)] * 2


@settings(max_examples=30)
@given(seed=st.integers(0, 99), shape=st.sampled_from([(3, 4), (2, 3, 4)]))
def test_normalized_as_torch_does_with_its_gradient(seed: int, shape: tuple[int, ...]) -> None:
    random = torch.Generator().manual_seed(seed)
    given = torch.randn(shape, generator=random, dtype=torch.float64, requires_grad=True)
    toward = torch.randn(shape, generator=random, dtype=torch.float64)
    sides = normalize(given), torch.nn.functional.normalize(given, dim=-1)
    mine, theirs = (torch.autograd.grad((side * toward).sum(), given)[0] for side in sides)
    assert torch.allclose(sides[0], sides[1], rtol=0, atol=1e-12)
    assert torch.allclose(mine, theirs, rtol=0, atol=1e-12)


def test_a_row_of_zeros_passes_no_gradient() -> None:
    rows = torch.tensor([[0.0, 0.0], [1e-20, 0.0], [0.0, 2.0]], requires_grad=True)
    normalize(rows).sum().backward()
    assert rows.grad is not None
    assert rows.grad.tolist() == [[0, 0], [0, 0], [0.5, 0]]


@settings(max_examples=30)
@given(size=sizes)
def test_log_one_plus_sum_exp(size: tuple[int, int, int]) -> None:
    values, allowed = drawn(*size)
    expected = [
        math.log(1 + sum(math.exp(v) for v, kept in zip(row, keep, strict=True) if kept))
        for row, keep in zip(values.tolist(), allowed.tolist(), strict=True)
    ]
    assert log_one_plus_sum_exp(values, allowed).tolist() == pytest.approx(expected, abs=1e-12)


def test_log_one_plus_sum_exp_of_anything_is_finite() -> None:
    values = torch.tensor([[1e4, 1e4], [-1e4, -1e4], [5.0, 1e4]], requires_grad=True)
    found = log_one_plus_sum_exp(values, torch.tensor([[True, True], [True, True], [False, False]]))
    assert found.tolist() == pytest.approx([1e4 + math.log(2), 0, 0])
    found.sum().backward()
    assert values.grad is not None
    assert values.grad.tolist() == [pytest.approx([0.5, 0.5], rel=1e-3), [0, 0], [0, 0]]


@settings(max_examples=30)
@given(size=sizes)
def test_log_softmax(size: tuple[int, int, int]) -> None:
    values, allowed = drawn(*size)
    allowed[:, 0] = True
    for row, keep, found in zip(
        values.tolist(), allowed.tolist(), log_softmax(values, allowed).tolist(), strict=True
    ):
        total = sum(math.exp(v) for v, kept in zip(row, keep, strict=True) if kept)
        expected = [
            v - math.log(total) if kept else -math.inf for v, kept in zip(row, keep, strict=True)
        ]
        assert found == pytest.approx(expected, abs=1e-9)


def test_distances_of_unit_vectors() -> None:
    one, other = normalize(torch.randn(2, 6, 4, dtype=torch.float64))
    found = distance(one @ other.T)
    assert torch.allclose(found**2, torch.cdist(one, other) ** 2 + 1e-4)


def test_the_distance_has_a_derivative_at_zero_and_takes_rounded_cosines() -> None:
    cosines = torch.tensor([1.0, 1.004], requires_grad=True)
    found = distance(cosines)
    found.sum().backward()
    assert found.tolist() == pytest.approx([0.01, 0.01])
    assert cosines.grad is not None
    assert cosines.grad.isfinite().all()


def test_odds_give_back_their_scores_and_are_finite_at_the_ends() -> None:
    scores = torch.rand(50, 4, dtype=torch.float64) * 0.98 + 0.01
    assert torch.allclose(torch.sigmoid(log_odds(scores)), scores)
    for kind in (torch.float32, torch.bfloat16):
        found = log_odds(torch.tensor([0.0, 0.5, 1.0], dtype=kind))
        assert found.isfinite().all()
        assert found.tolist() == pytest.approx([-13.8, 0, 13.8], abs=0.1)

"""Match probabilities: as double loops over samples have them, and as their integrals."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from trope.matching import (
    divergence,
    expected_distances,
    released_divergence,
    sampled_odds,
    sampled_odds_at_rest,
    samples,
    spread,
    uniformity,
)
from trope.maths import normalize
from trope.views import Encoded

EPSILON = 1e-6


def distributions(n: int, seed: int, size: int = 3, log_sigma: float = -1.0) -> Encoded:
    random = torch.Generator().manual_seed(seed)
    mean, spread = torch.randn(2, n, size, generator=random, dtype=torch.float64)
    return Encoded(normalize(mean), log_sigma=log_sigma + 0.3 * spread)


def apart(left: Tensor, right: Tensor) -> float:
    return math.fsum((a - b) ** 2 for a, b in zip(left.tolist(), right.tolist(), strict=True))


def match(left: Tensor, right: Tensor, scale: float, shift: float) -> float:
    """The mean over all couples of samples of e^s / (e^s + e^-s)."""
    found = []
    for one in left:
        for other in right:
            s = -scale * math.sqrt(apart(one, other) + EPSILON) + shift
            found.append(math.exp(s) / (math.exp(s) + math.exp(-s)))
    return math.fsum(found) / len(found)


@given(
    n=st.integers(1, 3),
    m=st.integers(1, 3),
    k=st.integers(1, 4),
    scale=st.sampled_from([0.5, 3.0, 15.0]),
    seed=st.integers(0, 2**31),
)
def test_odds_are_those_of_loops(n: int, m: int, k: int, scale: float, seed: int) -> None:
    random = torch.Generator().manual_seed(seed)
    left, right = (torch.randn(c, k, 3, generator=random).double() for c in (n, m))
    a, b = torch.tensor(scale, dtype=torch.float64), torch.tensor(4.0, dtype=torch.float64)
    odds = sampled_odds(left, right, a, b)
    torch.testing.assert_close(sampled_odds_at_rest(left, right, a, b), odds, rtol=1e-9, atol=1e-9)
    found = torch.sigmoid(odds)
    for i in range(n):
        for j in range(m):
            expected = match(left[i], right[j], scale, 4.0)
            assert float(found[i, j]) == pytest.approx(expected, rel=1e-6, abs=1e-12)


def test_odds_do_not_overflow_where_probabilities_do() -> None:
    left, right = torch.zeros(1, 2, 4), torch.full((1, 2, 4), 50.0)
    scale = torch.tensor(15.0)
    for odds in (sampled_odds, sampled_odds_at_rest):
        far, near = odds(left, right, scale, scale), odds(left, left, scale, scale)
        assert float(far) == pytest.approx(2 * (15 - 15 * 100), rel=1e-5)
        assert float(near) == pytest.approx(30, abs=0.1)


def test_odds_at_rest_hold_however_far_samples_lie_apart() -> None:
    """Some samples near, some hundreds of units away, in any order, in 32 bits."""
    random = torch.Generator().manual_seed(1)
    far = 10 ** (4 * torch.rand(6, 5, 1, generator=random) - 2)
    left, right = (far * torch.randn(6, 5, 3, generator=random) for _ in range(2))
    scale = torch.tensor(15.0)
    found = sampled_odds_at_rest(left, right, scale, scale)
    exact = sampled_odds(left.double(), right.double(), scale.double(), scale.double())
    assert found.isfinite().all()
    torch.testing.assert_close(found.double(), exact, rtol=1e-3, atol=1e-2)


def test_the_gradient_is_that_of_finite_differences() -> None:
    random = torch.Generator().manual_seed(0)
    left, right = (torch.randn(2, 3, 2, generator=random).double() for _ in range(2))
    inputs = (left, right, torch.tensor(2.0).double(), torch.tensor(1.0).double())
    assert torch.autograd.gradcheck(sampled_odds, [one.requires_grad_() for one in inputs])


def test_samples_spread_as_their_sigma_says() -> None:
    items = Encoded(torch.tensor([[1.0, -2.0]]), log_sigma=torch.tensor([[0.5, 2.0]]).log())
    noise = torch.randn(1, 40_000, 2, generator=torch.Generator().manual_seed(0))
    found = samples(items, noise)[0]
    torch.testing.assert_close(found.mean(dim=0), items.mean[0], atol=0.03, rtol=0)
    torch.testing.assert_close(found.std(dim=0), torch.tensor([0.5, 2.0]), atol=0.03, rtol=0)


def test_more_samples_come_closer_to_the_integral() -> None:
    """In one dimension the difference of two normals is a normal: a sum over a fine grid."""
    left = Encoded(torch.tensor([[0.3]]).double(), log_sigma=torch.tensor([[-0.7]]).double())
    right = Encoded(torch.tensor([[-0.2]]).double(), log_sigma=torch.tensor([[-0.2]]).double())
    sigma = math.sqrt(math.exp(-1.4) + math.exp(-0.4))
    grid = np.linspace(-8, 8, 200_001)
    density = np.exp(-(grid**2) / 2) / math.sqrt(2 * math.pi) * (grid[1] - grid[0])
    s = -3 * np.abs(0.5 + sigma * grid) + 2
    exact = float((density / (1 + np.exp(-2 * s))).sum())
    scale, shift = torch.tensor(3.0).double(), torch.tensor(2.0).double()
    errors = []
    for k in (8, 300):
        tried = []
        for seed in range(8):
            random = torch.Generator().manual_seed(seed)
            noise = torch.randn(2, 1, k, 1, generator=random, dtype=torch.float64)
            odds = sampled_odds(samples(left, noise[0]), samples(right, noise[1]), scale, shift)
            tried.append((float(torch.sigmoid(odds)) - exact) ** 2)
        errors.append(math.sqrt(sum(tried) / len(tried)))
    assert errors[1] < errors[0] / 3
    assert errors[1] < 0.04


@given(n=st.integers(1, 3), m=st.integers(1, 3), seed=st.integers(0, 2**31))
def test_the_closed_form_in_loops(n: int, m: int, seed: int) -> None:
    left, right = distributions(n, seed), distributions(m, seed + 1)
    assert left.log_sigma is not None
    assert right.log_sigma is not None
    found = expected_distances(left, right)
    for i in range(n):
        for j in range(m):
            spread = sum(
                math.exp(2 * value)
                for value in (*left.log_sigma[i].tolist(), *right.log_sigma[j].tolist())
            )
            expected = apart(left.mean[i], right.mean[j]) + spread
            assert float(found[i, j]) == pytest.approx(expected)


def test_the_closed_form_is_the_mean_squared_distance_of_samples() -> None:
    left, right = distributions(1, 0), distributions(1, 1)
    noise = torch.randn(2, 1, 100_000, 3, generator=torch.Generator().manual_seed(0)).double()
    drawn = samples(left, noise[0]) - samples(right, noise[1])
    mean = float(drawn.square().sum(dim=2).mean())
    assert float(expected_distances(left, right)) == pytest.approx(mean, rel=0.02)


@given(n=st.integers(1, 4), seed=st.integers(0, 2**31))
def test_divergence_in_loops(n: int, seed: int) -> None:
    items = distributions(n, seed)
    assert items.log_sigma is not None
    for i in range(n):
        expected = math.fsum(
            0.5 * (math.exp(s) ** 2 + m**2 - 1 - math.log(math.exp(s) ** 2))
            for m, s in zip(items.mean[i].tolist(), items.log_sigma[i].tolist(), strict=True)
        )
        assert float(divergence(items)[i]) == pytest.approx(expected)


def test_divergence_is_that_of_torch_and_zero_for_the_standard_normal() -> None:
    items = distributions(5, 3)
    assert items.log_sigma is not None
    normal = torch.distributions.Normal
    zeros = torch.zeros_like(items.mean)
    peer = torch.distributions.kl_divergence(
        normal(items.mean, items.log_sigma.exp()), normal(zeros, zeros + 1)
    )
    torch.testing.assert_close(divergence(items), peer.sum(dim=1))
    assert not divergence(Encoded(zeros, log_sigma=zeros)).any()


@given(n=st.integers(1, 3), k=st.integers(1, 3), seed=st.integers(0, 2**31))
def test_divergence_as_released_in_loops(n: int, k: int, seed: int) -> None:
    items = distributions(n, seed)
    assert items.log_sigma is not None
    noise = torch.randn(n, k, 3, generator=torch.Generator().manual_seed(seed)).double()
    drawn = samples(items, noise)
    for i in range(n):
        means = [sum(drawn[i, :, c].tolist()) / k for c in range(3)]
        logs = items.log_sigma[i].tolist()
        expected = -0.5 * math.fsum(
            1 + s - m**2 - math.exp(s) for m, s in zip(means, logs, strict=True)
        )
        assert float(released_divergence(drawn, items.log_sigma)[i]) == pytest.approx(expected)


@given(n=st.integers(2, 6), seed=st.integers(0, 2**31))
def test_uniformity_in_loops(n: int, seed: int) -> None:
    points = torch.randn(n, 3, generator=torch.Generator().manual_seed(seed)).double()
    couples = [math.exp(-2 * apart(points[i], points[j])) for i in range(n) for j in range(i)]
    expected = math.log(math.fsum(couples) / len(couples))
    assert float(uniformity(points)) == pytest.approx(expected)


def test_points_on_one_spot_are_least_uniform() -> None:
    assert float(uniformity(torch.zeros(5, 2))) == pytest.approx(0)
    assert float(uniformity(torch.randn(5, 2))) < 0
    assert float(uniformity(torch.zeros(1, 2))) == 0


def test_who_is_spread_out_more_is_less_certain() -> None:
    wide, narrow = (distributions(1, 0, log_sigma=value) for value in (0.0, -3.0))
    assert float(spread(wide)) > float(spread(narrow))

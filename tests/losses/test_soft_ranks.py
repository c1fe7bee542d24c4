"""Soft ranks: as plain loops have them, in both of their ways, with the right gradient."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from trope.losses import soft_ranks as module
from trope.losses.soft_ranks import soft_ranks, soft_ranks_against

Ranks = Callable[[Tensor, float], Tensor]

WAYS: dict[str, Ranks] = {
    "sorted": soft_ranks,
    "plain": lambda values, temperature: soft_ranks_against(values, values, temperature),
}
both = pytest.mark.parametrize("way", WAYS)


def sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value > 0 else math.exp(value) / (1 + math.exp(value))


def by_loops(values: Tensor, others: Tensor, temperature: float) -> Tensor:
    n, m = values.shape
    found = [
        [
            1
            + math.fsum(
                sigmoid((float(others[i, k]) - float(values[i, j])) / temperature)
                for k in range(m)
                if k != j
            )
            for j in range(m)
        ]
        for i in range(n)
    ]
    return torch.tensor(found, dtype=torch.float64)


def drawn(n: int, m: int, seed: int, kinds: int = 0) -> Tensor:
    """Values like cosines; of few `kinds` many are equal."""
    random = torch.Generator().manual_seed(seed)
    values = 0.3 * torch.randn(n, m, generator=random, dtype=torch.float64)
    return (values * kinds).round() / kinds if kinds else values


matrices = st.builds(
    drawn,
    n=st.integers(1, 4),
    m=st.integers(1, 9),
    seed=st.integers(0, 2**31),
    kinds=st.sampled_from([0, 4]),
)
temperatures = st.sampled_from([1e-4, 0.001, 0.01, 0.1, 2.0])


@both
@given(values=matrices, temperature=temperatures)
def test_ranks_are_those_of_loops(way: str, values: Tensor, temperature: float) -> None:
    expected = by_loops(values, values, temperature)
    torch.testing.assert_close(WAYS[way](values, temperature), expected, rtol=1e-12, atol=1e-12)


@given(values=matrices, temperature=temperatures, seed=st.integers(0, 2**31))
def test_ranks_among_others_are_those_of_loops(
    values: Tensor, temperature: float, seed: int
) -> None:
    others = drawn(*values.shape, seed)
    found = soft_ranks_against(values, others, temperature)
    torch.testing.assert_close(found, by_loops(values, others, temperature), rtol=1e-12, atol=1e-12)


@both
@pytest.mark.parametrize("temperature", [0.01, 0.1])
def test_the_gradient_is_that_of_finite_differences(way: str, temperature: float) -> None:
    values = (0.1 * drawn(3, 7, 1)).requires_grad_()
    assert torch.autograd.gradcheck(lambda v: WAYS[way](v, temperature), values)


def test_the_gradients_among_others_are_those_of_finite_differences() -> None:
    values, others = ((0.1 * drawn(3, 6, seed)).requires_grad_() for seed in (1, 2))
    assert torch.autograd.gradcheck(lambda v, o: soft_ranks_against(v, o, 0.02), (values, others))


@pytest.mark.parametrize("spread", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_both_ways_agree_however_far_values_lie_apart(spread: float, dtype: torch.dtype) -> None:
    """Up to 100,000 temperatures: exponentials begin anew many times."""
    values = (spread * drawn(6, 200, 3)).to(dtype)
    values[0, :3] = values[0, 3]
    found = []
    for way in WAYS.values():
        leaf = values.clone().requires_grad_()
        ranks = way(leaf, 0.001)
        (ranks * torch.linspace(-1, 1, 200, dtype=dtype)).sum().backward()
        assert leaf.grad is not None
        found.append((ranks.detach(), leaf.grad))
    tight = dtype == torch.float64
    for one, other in zip(*found, strict=True):
        size = float(other.abs().max())
        torch.testing.assert_close(one, other, rtol=0, atol=size * (1e-11 if tight else 2e-5))


def test_hard_ranks_are_the_limit_and_equals_share_theirs() -> None:
    found = soft_ranks(torch.tensor([[0.1, 0.9, 0.5, 0.5, -1.0]], dtype=torch.float64), 1e-4)
    torch.testing.assert_close(found, torch.tensor([[4.0, 1.0, 2.5, 2.5, 5.0]]).double())


@both
def test_rows_in_parts_are_the_whole(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    values = drawn(7, 5, 2)
    whole = WAYS[way](values, 0.01)
    monkeypatch.setattr(module, "COUPLES", 60)
    assert torch.equal(WAYS[way](values, 0.01), whole)


class Largest(TorchDispatchMode):
    """Remembers the size of the largest tensor that any operation makes."""

    size = 0

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        made = func(*args, **(kwargs or {}))
        for one in made if isinstance(made, (tuple, list)) else [made]:
            if isinstance(one, Tensor):
                self.size = max(self.size, one.numel())
        return made


@both
def test_memory_does_not_grow_with_the_cube(way: str, monkeypatch: pytest.MonkeyPatch) -> None:
    n = 64
    monkeypatch.setattr(module, "COUPLES", 2 * n * n)
    values = drawn(n, n, 0).requires_grad_()
    with Largest() as largest:
        WAYS[way](values, 0.01).sum().backward()
    assert largest.size <= (n * n if way == "sorted" else 2 * n * n)


def test_the_first_loses_most_when_another_rises() -> None:
    """What stands just below gains a place, what it passes loses one, the rest stays."""
    values = torch.tensor([[0.50, 0.49, -0.3]], dtype=torch.float64)
    before = soft_ranks(values, 0.01)
    after = soft_ranks(values + torch.tensor([[0.0, 0.05, 0.0]]), 0.01)
    assert after[0, 1] < before[0, 1]
    assert after[0, 0] > before[0, 0]
    assert after[0, 2] == pytest.approx(float(before[0, 2]))


@both
def test_no_order_among_what_is_no_number(way: str) -> None:
    """A row with NaN or infinity has no ranks; others keep theirs."""
    values = torch.tensor([[0.1, math.nan, 0.3], [0.1, 0.2, 0.3]], dtype=torch.float64)
    found = WAYS[way](values, 1e-4)
    assert found[0].isnan().any()
    torch.testing.assert_close(found[1], torch.tensor([3.0, 2.0, 1.0], dtype=torch.float64))
    if way == "sorted":
        values[0, 1] = -math.inf
        assert WAYS[way](values, 1e-4)[0].isnan().all()

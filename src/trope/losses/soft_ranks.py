"""Ranks counted by sigmoids (DAA, Li et al. 2022): differentiable, without n by n by n numbers.

    R_ij = 1 + Σ_{k≠j} σ((x_ik - x_ij) / τ)                        of value j among those of row i
    dR_ij/dx_ik = σ'(u)/τ,  so that  dL/dx_ij = Σ_k σ'(u_ijk)/τ (g_ik - g_ij)         g = dL/dR

On a processor rows are sorted. With e_j = exp(x_j / τ) the sigmoid is e_k / (e_j + e_k), a division
in place of an exponential; and where it is 0 or 1 to the last bit, beyond 40 τ in doubles, nothing
is computed. Elsewhere a few rows at a time are compared plainly. Neither keeps anything of the
couples: they are compared anew on the way back.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor
from torch.autograd.function import once_differentiable

from trope.compiled import compiled, spread

# In τ: from where on the sigmoid is below the last bit beside 1, and how far exponentials may run
# before they begin anew; of doubles, and of numbers of 32 bits and fewer.
DOUBLE, SINGLE = (40.0, 300.0), (20.0, 60.0)
COUPLES = 2**22  # compared at a time where nothing is sorted

Matrix = Float[Tensor, "n m"]


def soft_ranks(values: Matrix, temperature: float) -> Matrix:
    """The rank of each value in its row, the largest first; equals share the middle of theirs."""
    if values.device.type != "cpu":
        return soft_ranks_against(values, values, temperature)
    found: Tensor = _Sorted.apply(values, temperature)  # type: ignore[no-untyped-call]
    return found


def soft_ranks_against(values: Matrix, others: Matrix, temperature: float) -> Matrix:
    """The rank of value j of a row among the others of that row, the j-th of them left out."""
    found: Tensor = _Plain.apply(values, others, temperature)  # type: ignore[no-untyped-call]
    return found


class _Sorted(torch.autograd.Function):
    """Rows in order, by compiled loops over the couples that are near."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Any:
        """Ranks, put back where the values were."""
        values, temperature = inputs
        ordered, places = values.detach().double().div(temperature).sort(dim=1)
        ctx.temperature, ctx.limits = temperature, _limits(values)
        found = torch.empty_like(ordered, dtype=_kept(values))
        _rows(count, ctx.limits, ordered, found)
        found[~ordered.isfinite().all(dim=1)] = torch.nan  # no order among what is no number
        ctx.save_for_backward(ordered, places)
        return torch.empty_like(found).scatter_(1, places, found).to(values.dtype)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *outputs: Any) -> Any:
        """The gradient of the values."""
        ordered, places = ctx.saved_tensors
        reaching = outputs[0].to(_kept(outputs[0])).gather(1, places)
        found = torch.empty_like(reaching)
        _rows(back, ctx.limits, ordered, reaching, found)
        moved = torch.empty_like(found).scatter_(1, places, found / ctx.temperature)
        return moved.to(outputs[0].dtype), None


def _limits(values: Tensor) -> tuple[float, float]:
    return DOUBLE if values.dtype == torch.float64 else SINGLE


def _kept(values: Tensor) -> torch.dtype:
    """What is computed in: 32 bits at least."""
    return torch.float64 if values.dtype == torch.float64 else torch.float32


def _rows(loop: Callable[..., None], limits: tuple[float, float], *tensors: Tensor) -> None:
    """A compiled loop over all rows, on every core."""
    arrays = [tensor.numpy() for tensor in tensors]

    def work(first: int, last: int) -> None:
        loop(limits, *(array[first:last] for array in arrays))

    rows, columns = arrays[0].shape
    spread(rows, columns * columns, work)


@compiled
def count(limits: tuple[float, float], ordered: np.ndarray, ranks: np.ndarray) -> None:
    """Soft ranks of values in rising order, in units of τ."""
    size, (far, reach) = ordered.shape[1], limits
    powers = np.empty(size, ranks.dtype)
    for i in range(len(ordered)):
        row, out, start, first, last = ordered[i], ranks[i], -np.inf, 0, 0
        for k in range(size):
            out[k] = 0.5  # 1, without the half that a value counts of itself below
        for j in range(size):
            first, last = _near(far, row, j, first, last)
            out[j] += size - last
            if row[j] - start > reach:
                start = row[j]
                _raise(far + reach, row, first, start, powers)
            own = powers[j]
            for k in range(first, last):
                out[k] += own / (own + powers[k])


@compiled
def back(
    limits: tuple[float, float], ordered: np.ndarray, reaching: np.ndarray, gradient: np.ndarray
) -> None:
    """The gradient of values in rising order from that of their ranks, times τ."""
    size, (far, reach) = ordered.shape[1], limits
    powers = np.empty(size, gradient.dtype)
    for i in range(len(ordered)):
        row, given, out = ordered[i], reaching[i], gradient[i]
        start, first, last = -np.inf, 0, 0
        for k in range(size):
            out[k] = 0.0
        for j in range(size):
            first, last = _near(far, row, j, first, last)
            if row[j] - start > reach:
                start = row[j]
                _raise(far + reach, row, first, start, powers)
            own, mine = powers[j], given[j]
            for k in range(first, last):
                share = own / (own + powers[k])
                out[k] += (share - share * share) * (mine - given[k])


@compiled
def _raise(limit: float, row: np.ndarray, first: int, start: float, powers: np.ndarray) -> None:
    """Exponentials of what may be compared before they begin anew."""
    for k in range(first, len(row)):
        if row[k] - start > limit:
            break
        powers[k] = np.exp(row[k] - start)


@compiled
def _near(far: float, row: np.ndarray, place: int, first: int, last: int) -> tuple[int, int]:
    """From where to where values are compared with one, given the same of the one before."""
    while row[place] - row[first] > far:
        first += 1
    while last < len(row) and row[last] - row[place] <= far:
        last += 1
    return first, last


class _Plain(torch.autograd.Function):
    """A few rows at a time, all couples of each."""

    @staticmethod
    def forward(ctx: Any, *inputs: Any) -> Any:
        """Ranks; the couple of equal places is left out."""
        values, others, ctx.temperature = inputs
        ctx.save_for_backward(values, others)
        parts = [share.sum(dim=2) for _, share in _shares(values, others, ctx.temperature)]
        own = torch.sigmoid((others - values) / ctx.temperature)
        return 1 + torch.cat(parts) - own

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *outputs: Any) -> Any:
        """The gradients of both."""
        values, others = ctx.saved_tensors
        given, left, right = outputs[0], [], []
        for part, share in _shares(values, others, ctx.temperature):
            slope = share.mul_(1 - share).div_(ctx.temperature)
            slope.diagonal(dim1=1, dim2=2).zero_()
            left.append(-given[part] * slope.sum(dim=2))
            right.append((given[part][:, None] @ slope)[:, 0])
        return torch.cat(left), torch.cat(right), None


def _shares(values: Tensor, others: Tensor, temperature: float) -> Iterator[tuple[slice, Tensor]]:
    """σ((others_ik - values_ij) / τ) for all j and k, some rows i at a time."""
    rows, columns = values.shape
    step = max(1, COUPLES // max(1, columns * others.shape[1]))
    for first in range(0, rows, step):
        part = slice(first, first + step)
        gaps = (others[part, None, :] - values[part, :, None]).div_(temperature)
        yield part, gaps.sigmoid_()

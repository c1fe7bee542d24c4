"""Batch normalization (Ioffe & Szegedy, ICML 2015) of real items alone, over all processes.

    y = (x - mean) / √(variance + 1e-5) · weight + bias

In training mean and variance are those of the batch, in use those gathered in training. Padding is
not looked at, and processes that share a batch count it as one: results do not depend on how texts
were padded, nor on how a batch is spread. torch's own synchronized form is for GPUs alone.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor, distributed, nn
from torch.distributed.nn.functional import all_reduce

EPSILON, MOMENTUM = 1e-5, 0.1


class Statistics(NamedTuple):
    """Of each channel."""

    mean: Float[Tensor, " c"]
    variance: Float[Tensor, " c"]


class BatchNorm(nn.Module):
    """Channels last; `present` marks the items that count."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))
        self.bias = nn.Parameter(torch.zeros(size))
        self.running_mean: Tensor
        self.running_var: Tensor
        self.register_buffer("running_mean", torch.zeros(size))
        self.register_buffer("running_var", torch.ones(size))

    def forward(
        self, values: Float[Tensor, "*n c"], present: Bool[Tensor, "*n"] | None = None
    ) -> Float[Tensor, "*n c"]:
        """Normalized values; what is not present means nothing."""
        known = None
        if self.training:
            known = self.observed(values.flatten(0, -2) if present is None else values[present])
        return self.applied(values, known)

    def observed(self, values: Float[Tensor, "items c"]) -> Statistics:
        """Mean and variance of a batch, with gradients; they are remembered too."""
        values = values.to(self.weight.dtype)  # sums of 16 bits would be no sums
        count = _over_processes(values.new_tensor(float(len(values)))).clamp(min=1)
        mean = _over_processes(values.sum(dim=0)) / count
        variance = _over_processes((values - mean).square().sum(dim=0)) / count
        with torch.no_grad():
            unbiased = variance * (count / (count - 1).clamp(min=1))
            self.running_mean.lerp_(mean, MOMENTUM)
            self.running_var.lerp_(unbiased, MOMENTUM)
        return Statistics(mean, variance)

    def applied(
        self, values: Float[Tensor, "*n c"], known: Statistics | None
    ) -> Float[Tensor, "*n c"]:
        """By the statistics of a batch, or by those remembered."""
        mean, variance = known or Statistics(self.running_mean, self.running_var)
        scale = self.weight * (variance + EPSILON).rsqrt()
        return (values - mean) * scale + self.bias


def _over_processes(value: Tensor) -> Tensor:
    """The sum of all processes' values, through which gradients pass."""
    if not (distributed.is_available() and distributed.is_initialized()):
        return value
    function: Any = all_reduce
    return torch.as_tensor(function(value))

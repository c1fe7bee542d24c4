"""Convolutions that do the work of the batch normalization after them, while both are trained.

With fixed statistics (w * x - mean) k + bias, where k = weight / deviation, is one convolution:
(w k) * x + (bias - mean k). The normalization then costs a pass over the weights instead of several
over all activations, and needs no memory for them.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn import functional

from trope.features.backbones.efficientnet import normalized

Map = Float[Tensor, "n _channels _height _width"]


class Folded(nn.Module):
    """A convolution and its normalization in one; zeros are added by `static_padding` alone."""

    def __init__(self, convolution: nn.Conv2d, norm: nn.BatchNorm2d) -> None:
        super().__init__()
        if convolution.bias is not None or convolution.padding != (0, 0):
            raise ValueError("only a convolution without bias and padding of its own can be folded")
        self.convolution, self.norm = convolution, norm
        self.outside, self.inside = _padding(convolution)

    def forward(self, values: Map) -> Map:
        """Convolved and normalized."""
        convolution, norm = self.convolution, self.norm
        assert norm.running_mean is not None
        assert norm.running_var is not None
        scale = norm.weight * torch.rsqrt(norm.running_var + norm.eps)
        return functional.conv2d(
            functional.pad(values, self.outside) if any(self.outside) else values,
            convolution.weight * scale[:, None, None, None],
            norm.bias - norm.running_mean * scale,
            convolution.stride,
            self.inside,
            convolution.dilation,
            convolution.groups,
        )


def fold(network: Any) -> None:
    """Join convolutions and normalizations of an EfficientNet; its function stays the same."""
    for module, convolution, norm in normalized(network):
        setattr(module, convolution, Folded(getattr(module, convolution), getattr(module, norm)))
        setattr(module, norm, nn.Identity())
    for module in network.modules():
        if isinstance(module, nn.ReLU6):
            module.inplace = True  # nobody else sees what a convolution gives


def _padding(convolution: nn.Conv2d) -> tuple[tuple[int, ...], tuple[int, int]]:
    """Zeros to add before, and those that the convolution can add itself: as many on both sides."""
    before = getattr(convolution, "static_padding", None)
    left, right, top, bottom = getattr(before, "padding", (0, 0, 0, 0))
    if left == right and top == bottom:
        return (0, 0, 0, 0), (top, left)
    return (left, right, top, bottom), (0, 0)

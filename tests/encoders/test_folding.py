"""Convolutions with their normalization inside, against one after the other."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn import functional

from trope.encoders.folding import Folded, fold
from trope.features.backbones import efficientnet


class Padded(nn.Conv2d):
    """As the package of EfficientNet pads: zeros first, then a convolution without."""

    def __init__(self, zeros: tuple[int, ...], **settings: int) -> None:
        super().__init__(4, 4, 3, bias=False, **settings)
        self.static_padding = nn.ZeroPad2d(zeros)

    def forward(self, values: Tensor) -> Tensor:
        return functional.conv2d(
            self.static_padding(values), self.weight, None, self.stride, 0, 1, self.groups
        )


def norm() -> nn.BatchNorm2d:
    made = nn.BatchNorm2d(4).eval()
    for values in (made.weight, made.bias, made.running_mean):
        nn.init.normal_(values)
    nn.init.uniform_(made.running_var, 0.5, 2)
    return made


@pytest.mark.parametrize("zeros", [(1, 1, 1, 1), (0, 1, 0, 1), (2, 2, 1, 1), (0, 0, 0, 0)])
@pytest.mark.parametrize("settings", [{}, {"stride": 2}, {"groups": 4}])
def test_values_and_gradients_stay_the_same(
    zeros: tuple[int, ...], settings: dict[str, int]
) -> None:
    torch.manual_seed(0)
    convolution, after = Padded(zeros, **settings).double(), norm().double()
    values = torch.randn(2, 4, 6, 6, dtype=torch.float64, requires_grad=True)
    learned = [values, convolution.weight, after.weight, after.bias]
    sides = after(convolution(values)), Folded(convolution, after)(values)
    torch.testing.assert_close(sides[1], sides[0], rtol=0, atol=1e-12)
    expected, found = (torch.autograd.grad(side.square().sum(), learned) for side in sides)
    for mine, theirs in zip(found, expected, strict=True):
        torch.testing.assert_close(mine, theirs, rtol=0, atol=1e-10)


@pytest.mark.parametrize("own", [{"bias": True}, {"bias": False, "padding": 1}])
def test_what_would_be_lost_is_refused(own: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="without bias and padding of its own"):
        Folded(nn.Conv2d(4, 4, 3, **own), norm())


def test_a_whole_network_stays_the_same() -> None:
    plain, folded = efficientnet.network(), efficientnet.network()
    fold(folded)
    assert not any(isinstance(block._bn1, nn.BatchNorm2d) for block in folded._blocks)
    values = torch.randn(2, 3, 64, 64, generator=torch.Generator().manual_seed(0))
    sides = [network.extract_features(values) for network in (plain, folded)]
    torch.testing.assert_close(sides[1], sides[0], rtol=1e-4, atol=1e-4)
    first = [next(network.parameters()) for network in (plain, folded)]
    grads = [
        torch.autograd.grad(side.mean(), weight)[0]
        for side, weight in zip(sides, first, strict=True)
    ]
    torch.testing.assert_close(grads[1], grads[0], rtol=1e-3, atol=1e-6)
    assert sum(p.numel() for p in folded.parameters()) == sum(p.numel() for p in plain.parameters())

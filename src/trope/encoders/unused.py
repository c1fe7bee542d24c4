"""Weights of a pretrained network that do not matter for what is asked of it."""

from __future__ import annotations

import torch
from torch import Tensor, nn


def freeze_unused(network: nn.Module, *outputs: Tensor) -> None:
    """Leave out of training what the outputs do not depend on: classifiers, poolers.

    Processes that train together wait for the gradient of every weight, and would wait forever.
    """
    learned = [parameter for parameter in network.parameters() if parameter.requires_grad]
    total = torch.stack([output.sum() for output in outputs]).sum()
    gradients = torch.autograd.grad(total, learned, allow_unused=True)
    for parameter, gradient in zip(learned, gradients, strict=True):
        if gradient is None:
            parameter.requires_grad_(False)

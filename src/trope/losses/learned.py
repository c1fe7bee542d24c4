"""A positive number that is learned with the model, such as a temperature."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor, nn


class Learned(nn.Module):
    """Learned as its logarithm and put back into its range before each use, as CLIP's scale is.

    A clamp inside the graph would have no gradient outside the range: the number would stay there.
    """

    def __init__(
        self, start: float, low: float = 0.0, high: float = math.inf, learned: bool = True
    ) -> None:
        super().__init__()
        self.range = [math.log(low) if low else -math.inf, math.log(high)]
        self.logarithm = nn.Parameter(torch.tensor(math.log(start)), requires_grad=learned)

    def forward(self) -> Float[Tensor, ""]:
        """The number now."""
        with torch.no_grad():
            self.logarithm.clamp_(*self.range)
        return self.logarithm.exp()

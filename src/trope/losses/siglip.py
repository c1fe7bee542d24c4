"""The sigmoid loss of SigLIP (Zhai et al., ICCV 2023).

    L_i = h(-t s_ii - b) + ½ Σ_{j≠i} (h(t s_ij + b) + h(t s_ji + b))       h(x) = log(1 + e^x)

An image with another's text is one negative shared by two pairs, half to each, so that the mean
over the batch is the paper's. t = exp(t') and b are learned, from t' = log 10 and b = -10.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import softplus

from trope.losses.learned import Learned
from trope.losses.loss import Loss, check_between
from trope.similarity import scores_of
from trope.views import View


@dataclass(eq=False, kw_only=True)
class SigLIP(Loss):
    """Each image with each text of the batch: a pair, or not; `scale` and `bias` are the start."""

    scale: float = 10.0
    bias: float = -10.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_between(1e-3, 1e3, scale=self.scale)
        if not math.isfinite(self.bias):
            raise ValueError(f"bias must be a number, not {self.bias}")
        self.learned_scale = Learned(self.scale)
        self.learned_bias = nn.Parameter(torch.tensor(self.bias))

    def forward(self, view: View) -> Float[Tensor, " n"]:
        """The loss of each pair."""
        scores = scores_of(view)
        return sigmoid_loss(self.learned_scale() * scores + self.learned_bias, view.same)


def sigmoid_loss(logits: Float[Tensor, "n n"], same: Bool[Tensor, "n n"]) -> Float[Tensor, " n"]:
    """The diagonal should be large, all that is not the same small."""
    others = softplus(logits).masked_fill(same, 0)
    return softplus(-logits.diagonal()) + (others.sum(dim=0) + others.sum(dim=1)) / 2

"""Distance-weighted sampling of negatives (Wu et al., ICCV 2017).

    log w_ij = (2 - d) log δ_ij - (d - 3)/2 log(1 - δ_ij²/4)    δ_ij: from anchor to negative
    p_ij     = w_ij / Σ_j w_ij                                  j over what may be a negative

1/w is how densely points lie at a distance δ on the sphere in d dimensions: negatives at all
distances become equally likely. δ is kept above `least` (else the nearest would always be
drawn) and beyond `most` nothing is drawn, as in pytorch-metric-learning; where all lie there, all
are as likely. One negative is drawn for each anchor in each direction; without `drawn`, all count
by their probability instead. Weights of the negatives of an anchor have mean one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from trope.maths import log_softmax
from trope.similarity import scores_of
from trope.views import View
from trope.weights.weight import Kind, ViewWeight


@dataclass(frozen=True, kw_only=True)
class Distance(ViewWeight):
    """Near negatives more often than far ones, and none too often."""

    gives: ClassVar[Kind] = "negatives"
    least: float = 0.5
    most: float = 1.4
    drawn: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.least < self.most < 2:
            raise ValueError(f"0 < least < most < 2 is wanted, found {self.least} and {self.most}")

    @torch.no_grad()
    def seen(
        self,
        view: View,
        known: Mapping[str, Tensor] | None,
        barred: Bool[Tensor, "n m"] | None,
        random: np.random.Generator,
    ) -> View:
        """Texts as negatives of images, then images as negatives of texts."""
        scores = scores_of(view).double()
        allowed, size = ~view.same, view.image.mean.shape[1]
        both = [self.chances(one, allowed, size) for one in (scores, scores.T)]
        if self.drawn:
            places = torch.from_numpy(random.random((2, len(scores)))).to(scores.device)
            both = [chosen(one, place) for one, place in zip(both, places, strict=True)]
        many = allowed.sum(dim=1, keepdim=True)
        return replace(view, negatives=(torch.stack(both) * many).to(view.image.mean.dtype))

    def chances(
        self, scores: Float[Tensor, "n n"], allowed: Bool[Tensor, "n n"], size: int
    ) -> Float[Tensor, "n n"]:
        """p of each negative; zeros where there is none."""
        apart = (2 - 2 * scores).clamp(min=0).sqrt()
        within = allowed & (apart < self.most)
        within = torch.where(within.any(dim=1, keepdim=True), within, allowed)
        apart = apart.clamp(self.least, self.most)
        logarithms = (2 - size) * apart.log() - (size - 3) / 2 * (1 - apart**2 / 4).log()
        return log_softmax(logarithms, within).exp().nan_to_num(0)


def chosen(chances: Float[Tensor, "n n"], places: Float[Tensor, " n"]) -> Float[Tensor, "n n"]:
    """One in each row where the chances, added up, pass its place between 0 and 1."""
    sums = chances.cumsum(dim=1)
    passed = sums > places[:, None] * sums[:, -1:]
    first = passed & (passed.cumsum(dim=1) == 1)
    return first.to(chances.dtype)

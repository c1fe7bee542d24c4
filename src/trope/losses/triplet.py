"""Triplet loss over all negatives of the batch, or over the hardest (VSE++).

    L_i = (1/n) Σ_j [m + s(a_i, n_j) - s(a_i, p_i)]₊        all negatives
    L_i =  max_j    [m + s(a_i, n_j) - s(a_i, p_i)]₊        hard

With n the size of the batch, the mean of L over a batch is the mean over the n by n matrix, as in
PVSE; both directions added, it is twice Eq. 1 of Thomas & Kovashka (CVPR Workshops 2022), whose
margin is 0.1. Squared distances of unit vectors are 2 - 2s: a hinge of Eq. 1 of Thomas & Kovashka
(ECCV 2020) with margin 2m is twice one of these. Hardest negatives: Faghri et al. (BMVC 2018),
whose margin is 0.2. Where scores are still near to each other the hardest negative may push all of
them together, where they stay: the loss is then 2m for good. So the first steps may count all
negatives, as in VSE∞ (Chen et al., CVPR 2021).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from trope.losses.loss import check_weights
from trope.losses.ranking import Ranking, Similarities, violations
from trope.views import View


@dataclass(eq=False, kw_only=True)
class Triplet(Ranking):
    """Every negative must be less similar than the positive by a margin of cosine.

    With `hard` only the hardest counts, in training after so many steps as `warm` says.
    """

    margin: float = 0.1
    hard: bool = False
    warm: int = 0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_weights(margin=self.margin, warm=float(self.warm))
        if self.warm:  # kept in the state of a run, which goes on where it was
            self.register_buffer("steps", torch.zeros((), dtype=torch.int64))

    def applies(self, kind: str) -> bool:
        """Who looks at the hardest negative alone has none to weigh against another."""
        return super().applies(kind) and not (self.hard and kind == "negatives")

    def forward(self, view: View) -> Float[Tensor, " n"]:
        """The loss of each pair."""
        found = super().forward(view)
        if self.training and self.warm:
            self.get_buffer("steps").add_(1)
        return found

    def rank(
        self,
        positive: Float[Tensor, " n"],
        negative: Similarities,
        summed: Similarities,
        allowed: Bool[Tensor, "n m"],
        weights: Float[Tensor, "n m"] | None = None,
    ) -> Float[Tensor, " n"]:
        """Mean of the violations of an anchor, or the largest."""
        found = violations(positive, negative(), allowed, self.margin, weights)
        return found.amax(dim=1) if self.hard and not self._warming else found.mean(dim=1)

    @property
    def _warming(self) -> bool:
        return self.training and bool(self.warm) and int(self.get_buffer("steps")) < self.warm

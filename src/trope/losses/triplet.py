"""Triplet loss over all negatives of the batch, or over the hardest (VSE++).

    L_i = (1/n) Σ_j [m + s(a_i, n_j) - s(a_i, p_i)]₊        all negatives
    L_i =  max_j    [m + s(a_i, n_j) - s(a_i, p_i)]₊        hard

With n the size of the batch, the mean of L over a batch is the mean over the n by n matrix, as in
PVSE; both directions added, it is twice Eq. 1 of Thomas & Kovashka (CVPR Workshops 2022), whose
margin is 0.1. Squared distances of unit vectors are 2 - 2s: a hinge of Eq. 1 of Thomas & Kovashka
(ECCV 2020) with margin 2m is twice one of these. Hardest negatives: Faghri et al. (BMVC 2018),
whose margin is 0.2.
"""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor

from trope.losses.loss import check_weights
from trope.losses.ranking import Ranking, Similarities, violations


@dataclass(eq=False, kw_only=True)
class Triplet(Ranking):
    """Every negative must be less similar than the positive by a margin of cosine."""

    margin: float = 0.1
    hard: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_weights(margin=self.margin)

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
        return found.amax(dim=1) if self.hard else found.mean(dim=1)

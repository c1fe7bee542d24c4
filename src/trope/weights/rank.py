"""Weights by rank (Mithun et al., ICMR 2018).

    w_i = 1 + β / (B - r_i)           r_i: how many of the batch come before the match of i

One for each direction: an image weighs by the place of its text among the texts, a text by that of
its image. From 1 + β/B where the match is first to 1 + β where it is last. Formula and β = 1 as in
the authors' public code (niluthpol/multimodal_vtt), with the hardest negative and a margin of 0.2.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from trope.similarity import scores_of
from trope.views import View
from trope.weights.weight import Kind, ViewWeight, check_positive


@dataclass(frozen=True, kw_only=True)
class Rank(ViewWeight):
    """Anchors whose match comes late count more, up to 1 + `beta`."""

    gives: ClassVar[Kind] = "anchors"
    beta: float = 1.0

    def __post_init__(self) -> None:
        check_positive(beta=self.beta)

    @torch.no_grad()
    def seen(
        self,
        view: View,
        known: Mapping[str, Tensor] | None,
        barred: Bool[Tensor, "n m"] | None,
        random: np.random.Generator,
    ) -> View:
        """Both directions from one matrix of similarities."""
        scores = scores_of(view)
        both = torch.stack([rank_weights(one, view.same, self.beta) for one in (scores, scores.T)])
        return replace(view, anchors=both)


def rank_weights(
    scores: Float[Tensor, "n n"], same: Bool[Tensor, "n n"], beta: float
) -> Float[Tensor, " n"]:
    """By the place of the diagonal in its row; other items that are right come never before it."""
    before = ((scores > scores.diagonal()[:, None]) & ~same).sum(dim=1)
    return 1 + beta / (len(scores) - before).to(scores.dtype)

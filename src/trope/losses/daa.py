"""DAA (Li et al., NeurIPS 2022): similarities ranked as captions say, beside any other loss.

    R_S[i,j] = 1 + Σ_{k≠j} σ((S_ik - S_ij) / τ)        ranks of texts for image i; R_M likewise of M
    L_i      = w (1 - 1/n Σ_j min(R_S, R_M)[i,j] / max(R_S, R_M)[i,j])      and the same of Sᵀ, Mᵀ

M is the relevance of the text of pair j for the image of pair i, by captions; it is given. The mean
over pairs of the ratio is ASP (Eq. 1 of the paper's appendix) of the batch with soft ranks. Nothing
is learned through the ranks of M: they have a temperature of their own, so small that what is as
good as never said, and still said more than something else, comes before it.

The paper's weight is 25 beside a hinge summed over 128 pairs (COCO): 25/128 beside a mean, as
here. τ is 0.001 for SGR, 0.01 for PCME. Formula and numbers as in the authors' public code, but for
a defect there: item (i, j) is compared with the values of column i in place of those of row i,
which is the same only where S is symmetric. `legacy_broadcast` does so too. M has the same τ
there, which takes most of CIDEr's small values for equal. In their code for PCME
S is of images with images; here S is always of images with texts.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor

from trope.losses.loss import Loss, check_between, check_weights, part
from trope.losses.soft_ranks import soft_ranks, soft_ranks_against
from trope.similarity import scores_of
from trope.views import View

Matrix = Float[Tensor, "n n"]


@dataclass(frozen=True)
class DAASettings:
    """How much ranking by captions counts, how soft ranks are, and what relevance is measured by.

    Ranks of the relevance have a temperature of their own; the released code has one for both.

    Measures are those of `trope.spaces.captions`: by CIDEr, BLEU, ROUGE, or the mean of the three;
    with `-daa`, as the released code has them.
    """

    weight: float = 25 / 128
    temperature: float = 0.001
    relevance_temperature: float = 1e-6
    relevance: Literal["cider", "bleu", "rouge", "mean", "cider-daa", "rouge-daa", "mean-daa"] = (
        "cider"
    )
    legacy_broadcast: bool = False

    def __post_init__(self) -> None:
        check_weights(weight=self.weight)
        check_between(1e-6, 1e3, temperature=self.temperature)
        check_between(1e-9, 1e3, relevance_temperature=self.relevance_temperature)


class DAA(Loss):
    """Another loss, and the term of DAA added to it pair by pair."""

    def __init__(self, base: Loss, settings: DAASettings) -> None:
        super().__init__()
        self.base, self.settings = base, settings

    def applies(self, kind: str) -> bool:
        """As the other loss does."""
        return self.base.applies(kind)

    @property
    def needs(self) -> frozenset[str]:
        """What the other loss needs, and the relevance of texts for images."""
        return self.base.needs | {"relevance"}

    @property
    def of_labels(self) -> bool:
        """Unless captions count: they say something of every pair."""
        return self.base.of_labels and not self.settings.weight

    def forward(self, view: View) -> Float[Tensor, " n"]:
        """The loss of each pair."""
        loss: Tensor = self.base(view)
        if view.relevance is None and not self.training:
            return loss  # where nobody says what is relevant
        relevance = part(view.relevance, "relevance")
        return loss + daa(scores_of(view), relevance, self.settings)


def daa(scores: Matrix, relevance: Matrix, settings: DAASettings) -> Float[Tensor, " n"]:
    """Both directions: how far the order of each row and column is from that by relevance."""
    both = one_way(scores, relevance, settings) + one_way(scores.T, relevance.T, settings)
    return settings.weight * both


def one_way(scores: Matrix, relevance: Matrix, settings: DAASettings) -> Float[Tensor, " n"]:
    """One minus ASP with soft ranks, of each row."""
    ranks = _ranks(scores, settings.temperature, settings)
    with torch.no_grad():
        right = _ranks(relevance.to(scores.dtype), settings.relevance_temperature, settings)
    return 1 - (torch.minimum(ranks, right) / torch.maximum(ranks, right)).mean(dim=1)


def _ranks(values: Matrix, temperature: float, settings: DAASettings) -> Matrix:
    if settings.legacy_broadcast:
        return soft_ranks_against(values, values.T, temperature)
    return soft_ranks(values, temperature)

"""HAL (Liu et al., AAAI 2020): a smooth loss in which items near to many others weigh most.

    L_i = 1/κ log(1 + Σ_j e^{κ w_ij (s_ij - m)}) + 1/κ log(1 + Σ_j e^{κ w_ji (s_ji - m)})
          - log(1 + [w_ii s_ii]₊)                                               κ: `scale`

Its gradient is a softmax over the negatives of an item: a hub has most of it in many of them. w = 1
is the local form; the weights `hubs` (of the authors' memory bank) make it global. Form and numbers
as in the authors' public code (hardyqr/HAL): κ 30 and m 0.3 for COCO in batches of 512, which are
the defaults; 60 and 0.7 for Flickr30K in batches of 128. There the diagonal counts as a negative,
which adds e^{-κm} to each sum of the local form, and 1 to each of the global one, whose w is 0
there; here it is left out, as everywhere.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from jaxtyping import Bool, Float
from torch import Tensor

from trope.losses.loss import Loss, check_between
from trope.maths import log_one_plus_sum_exp
from trope.similarity import scores_of
from trope.views import View


@dataclass(eq=False, kw_only=True)
class HAL(Loss):
    """Positives as alike as can be, negatives below a margin, the nearest most of all."""

    takes: ClassVar[frozenset[str]] = frozenset({"hubs"})
    scale: float = 30.0
    margin: float = 0.3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_between(1e-3, 1e3, scale=self.scale)
        check_between(-1.0, 1.0, margin=self.margin)

    def forward(self, view: View) -> Float[Tensor, " n"]:
        """The loss of each pair."""
        scores = scores_of(view)
        return hal(scores, view.same, self.scale, self.margin, view.hubs)


def hal(
    scores: Float[Tensor, "n n"],
    same: Bool[Tensor, "n n"],
    scale: float,
    margin: float,
    weights: Float[Tensor, "n n"] | None = None,
) -> Float[Tensor, " n"]:
    """Both directions and the positive term; weights on the diagonal are those of positives."""
    own, values = scores.diagonal(), scale * (scores - margin)
    if weights is not None:
        own, values = weights.diagonal() * own, weights * values
    negative = log_one_plus_sum_exp(values, ~same) + log_one_plus_sum_exp(values.T, ~same)
    return negative / scale - own.relu().log1p()

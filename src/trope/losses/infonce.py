"""InfoNCE with a learned temperature, symmetric, as in CLIP (Radford et al., ICML 2021).

    L_i = -log(e^{s_ii/τ} / Σ_j e^{s_ij/τ}) - log(e^{s_ii/τ} / Σ_j e^{s_ji/τ})

CLIP takes half of this. τ starts at 0.07 and 1/τ is kept below 100.
"""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor

from trope.losses.learned import Learned
from trope.losses.loss import Loss, check_between
from trope.maths import log_one_plus_sum_exp
from trope.similarity import scores_of
from trope.views import View

LARGEST_SCALE = 100.0


@dataclass(eq=False, kw_only=True)
class InfoNCE(Loss):
    """Each image must name its text among the batch's, and each text its image."""

    temperature: float = 0.07
    learned: bool = True

    def __post_init__(self) -> None:
        super().__post_init__()
        check_between(1 / LARGEST_SCALE, 10.0, temperature=self.temperature)
        self.scale = Learned(1 / self.temperature, high=LARGEST_SCALE, learned=self.learned)

    def forward(self, view: View) -> Float[Tensor, " n"]:
        """The loss of each pair."""
        return infonce(self.scale() * scores_of(view), view.same)


def infonce(logits: Float[Tensor, "n n"], same: Bool[Tensor, "n n"]) -> Float[Tensor, " n"]:
    """Cross-entropy of the diagonal in its row and in its column, without what is the same."""
    own = logits.diagonal()[:, None]
    by_image = log_one_plus_sum_exp(logits - own, ~same)
    return by_image + log_one_plus_sum_exp(logits.T - own, ~same)

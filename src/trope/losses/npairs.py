"""N-pairs loss (Sohn, NeurIPS 2016).

    L_i = log(1 + Σ_j exp(κ (s(a_i, n_j) - s(a_i, p_i))))

The paper takes dot products of vectors of any length, with a penalty on the length. Ours have
length one: κ (`scale`) stands for the squared length. It is InfoNCE with a temperature of 1/κ
that is not learned.
"""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor

from trope.losses.loss import check_between
from trope.losses.ranking import Ranking, Similarities
from trope.maths import log_one_plus_sum_exp


@dataclass(eq=False, kw_only=True)
class NPairs(Ranking):
    """The positive against all negatives at once; vectors as if of length √scale."""

    scale: float = 16.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_between(1e-3, 1e3, scale=self.scale)

    def rank(
        self,
        positive: Float[Tensor, " n"],
        negative: Similarities,
        summed: Similarities,
        allowed: Bool[Tensor, "n m"],
        weights: Float[Tensor, "n m"] | None = None,
    ) -> Float[Tensor, " n"]:
        """Minus the logarithm of the positive's share."""
        values = self.scale * (negative() - positive[:, None])
        return log_one_plus_sum_exp(values, allowed, weights)

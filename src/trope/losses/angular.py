"""Angular loss (Wang et al., ICCV 2017), as Thomas & Kovashka (ECCV 2020) use it.

    f_ij = 4 t² (s(a_i, n_j) + s(p_i, n_j)) - 2 (1 + t²) s(a_i, p_i)       t = tan(angle)
    L_i  = log(1 + Σ_j exp f_ij)                                           smooth
    L_i  = Σ_j [f_ij + 2 - 6 t²]₊                                          hinge

The hinge is Eqs. 2-3 of ECCV 2020, Σ_j [‖a - p‖² - 4 t² ‖n - (a+p)/2‖²]₊, on unit vectors. With
all cosines equal to c its argument is -(6 t² - 2)(1 - c): above 30° nothing is violated at first
and nothing is learned, below 30° a collapse costs nothing. The default is therefore the smooth
form, which is also what the authors' code has.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from jaxtyping import Bool, Float
from torch import Tensor

from trope.losses.ranking import Ranking, Similarities
from trope.maths import log_one_plus_sum_exp


@dataclass(eq=False, kw_only=True)
class Angular(Ranking):
    """Keeps the angle at a negative, in the triangle with anchor and positive, below `angle`."""

    takes_scores: ClassVar[bool] = False
    angle: float = 45.0
    form: Literal["smooth", "hinge"] = "smooth"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.angle < 90:
            raise ValueError(f"angle must be between 0 and 90 degrees, not {self.angle}")

    def rank(
        self,
        positive: Float[Tensor, " n"],
        negative: Similarities,
        summed: Similarities,
        allowed: Bool[Tensor, "n m"],
        weights: Float[Tensor, "n m"] | None = None,
    ) -> Float[Tensor, " n"]:
        """The constraints of an anchor with all its negatives."""
        square = math.tan(math.radians(self.angle)) ** 2
        f = 4 * square * summed() - 2 * (1 + square) * positive[:, None]
        if self.form == "smooth":
            return log_one_plus_sum_exp(f, allowed, weights)
        found = (f + 2 - 6 * square).relu().masked_fill(~allowed, 0)
        return (found if weights is None else weights * found).sum(dim=1)

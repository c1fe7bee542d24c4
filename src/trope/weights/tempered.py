"""Weights of our own from the same measures, made to differ: the paper's are nearly uniform.

    ess                    w = scale · B softmax(z / τ)     τ such that ESS / B = `share`
    normalized-difference  w = scale · B d / Σ d            d = |N(U_X) - N(U_Y)|, no second softmax

z is the standardized score of the batch; the score is a combination of N(U_X) and N(U_Y), where N
puts images and texts on one scale: over all training pairs `z` (mean zero, deviation one) or `rank`
(places between 0 and 1), over the batch `softmax` (alpha of the paper, over λ/B), or `none`. With
`measure = both` N of diversity and N of discrepancy are added. A difference of z, of ranks or of
bare scores is the same whatever their sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from jaxtyping import Float

from trope.weights.neighborhood import MEASURES
from trope.weights.semantic import Both, Combination, Semantic, combination
from trope.weights.spread import ranks, softmax, standard, tempered, weights_of
from trope.weights.weight import Batches, Known, Weights

Scaling: TypeAlias = Literal["z", "rank", "softmax", "none"]


@dataclass(frozen=True, kw_only=True)
class Scaled(Semantic):
    """Measures of images and texts on one scale before they are combined."""

    scale: float = 1.0
    measure: Literal["diversity", "discrepancy", "both"] = "diversity"
    by: Scaling = "z"

    @property
    def measures(self) -> tuple[str, ...]:
        """One, or both."""
        return MEASURES if self.measure == "both" else (self.measure,)

    @property
    def combined(self) -> Combination:
        """How images and texts become one."""
        return "difference"

    @property
    def signed(self) -> bool:
        """Whether the opposite sign leads to other weights."""
        return self.by == "softmax" or self.combined not in ("difference", "agreement")

    def scaled(self, known: Known, batches: Batches) -> Both:
        """N(U_X) and N(U_Y) of each batch."""
        parts = [self._scaled(self.sign * known[name], batches) for name in self.measures]
        return np.asarray(np.sum(parts, axis=0))

    def _scaled(self, scores: Float[np.ndarray, "2 n"], batches: Batches) -> Both:
        if self.by == "softmax":
            return np.asarray(batches.shape[1] * softmax(scores[:, batches]))
        if self.by != "none":
            scores = standard(scores) if self.by == "z" else ranks(scores)
        return np.asarray(scores[:, batches])


@dataclass(frozen=True, kw_only=True)
class Ess(Scaled):
    """As uneven as asked for: the effective sample size is a `share` of every batch."""

    share: float = 0.7
    combine: Combination = "difference"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, found {self.share}")

    @property
    def combined(self) -> Combination:
        """As asked for."""
        return self.combine

    def weigh(self, known: Known, batches: Batches, random: np.random.Generator) -> Weights:
        """The temperature is found for each batch."""
        scores = combination(self.scaled(known, batches), self.combined)
        return weights_of(tempered(scores, self.share), self.scale)


@dataclass(frozen=True, kw_only=True)
class NormalizedDifference(Scaled):
    """In proportion to how differently image and text measure; all alike where none does."""

    def weigh(self, known: Known, batches: Batches, random: np.random.Generator) -> Weights:
        """Shares of the sum of the batch."""
        apart = combination(self.scaled(known, batches), self.combined)
        total = apart.sum(axis=1, keepdims=True)
        even = np.ones_like(apart) / batches.shape[1]
        shares = np.where(total > 0, apart / np.where(total > 0, total, 1), even)
        return weights_of(shares, self.scale)

"""Diversity and discrepancy together (Thomas & Kovashka, CVPR Workshops 2022, Eqs. 7 and 8).

    weight = λ softmax(beta U_div + gamma U_dis)       U = Γ · the mean measure of image and text

`combined-val` chooses beta : gamma on validation, after trainings on a share of the pairs.
`combined-stats` takes as beta the mean times the standard deviation of diversity over all training
pairs, images and texts alike, and as gamma that of discrepancy; before the sign, or a negative mean
would turn the emphasis round. So does a mean that is negative by itself, and one near zero leaves
its measure out: discrepancy on small data, where neighbors' neighbors are nearly everyone. A run
notes both factors of every epoch. As printed this is nearly uniform: measures near 0.3 that deviate
by 0.1 are multiplied by 0.03. That U is a mean over image and text is ours; the paper does not say
what becomes of the two.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from trope.weights.neighborhood import MEASURES
from trope.weights.semantic import Semantic
from trope.weights.spread import softmax, weights_of
from trope.weights.weight import Batches, Known, Weights

CHOICES = ((1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (1, 4), (4, 1), (1, 5), (5, 1))  # beta : gamma


@dataclass(frozen=True, kw_only=True)
class Combined(Semantic):
    """One softmax over a sum of both measures."""

    @property
    def measures(self) -> tuple[str, ...]:
        """Both."""
        return MEASURES

    @abstractmethod
    def factors(self, known: Known) -> tuple[float, float]:
        """beta and gamma."""

    def weigh(self, known: Known, batches: Batches, random: np.random.Generator) -> Weights:
        """Eqs. 7 and 8."""
        factors = zip(self.factors(known), MEASURES, strict=True)
        total = sum(factor * known[name].mean(axis=0) for factor, name in factors)
        scores = self.sign * np.asarray(total)
        return weights_of(softmax(scores[batches]), self.scale)


@dataclass(frozen=True, kw_only=True)
class CombinedVal(Combined):
    """beta and gamma as given; where they are not, training chooses among nine (Eq. 7).

    Each choice is trained on a `share` of the training pairs for up to `epochs` epochs.
    """

    beta: float | None = None
    gamma: float | None = None
    share: float = 0.2
    epochs: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.beta is None) != (self.gamma is None):
            raise ValueError("beta and gamma are given together, or both are chosen")
        if not self.sign and not self.chosen:
            raise ValueError("sign=0 makes all ratios the same: give beta and gamma, or uniform")
        if not 0 < self.share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, found {self.share}")
        if self.epochs < 2:  # the first has no weights
            raise ValueError(f"epochs must be at least 2, found {self.epochs}")

    @property
    def chosen(self) -> bool:
        """Whether beta and gamma are known."""
        return self.beta is not None

    def factors(self, known: Known) -> tuple[float, float]:
        """As given or chosen."""
        assert self.beta is not None
        assert self.gamma is not None
        return self.beta, self.gamma


@dataclass(frozen=True, kw_only=True)
class CombinedStats(Combined):
    """beta and gamma from what the measures are over the training pairs (Eq. 8)."""

    def factors(self, known: Known) -> tuple[float, float]:
        """Mean times standard deviation of each measure."""
        beta, gamma = (float(known[name].mean() * known[name].std()) for name in MEASURES)
        return beta, gamma

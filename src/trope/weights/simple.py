"""Weights that know nothing of the pairs: the controls of Table 3 (CVPR Workshops 2022).

    uniform   w_i = scale                    Γ = 0: all alike, still multiplied
    random    w_i = scale · B u_i / Σ u      u uniform between 0 and 1, drawn anew in every epoch

The paper does not say how its random weights are drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trope.weights.semantic import PAPER
from trope.weights.spread import weights_of
from trope.weights.weight import Batches, Known, PairWeight, Weights


@dataclass(frozen=True, kw_only=True)
class Uniform(PairWeight):
    """All pairs alike: what λ does by itself, against penalties and the decay of weights."""

    scale: float = PAPER

    def weigh(self, known: Known, batches: Batches, random: np.random.Generator) -> Weights:
        """The scale."""
        return np.full(batches.shape, self.scale)


@dataclass(frozen=True, kw_only=True)
class Random(PairWeight):
    """Other weights in every epoch, whatever the pairs are."""

    scale: float = PAPER

    def weigh(self, known: Known, batches: Batches, random: np.random.Generator) -> Weights:
        """Numbers between 0 and 1 as shares of the batch."""
        drawn = random.random(batches.shape)
        return weights_of(drawn / drawn.sum(axis=1, keepdims=True), self.scale)

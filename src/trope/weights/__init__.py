"""Weights: how much each pair of a batch, each anchor or each negative counts."""

from __future__ import annotations

from trope.weights.combined import CHOICES, Combined, CombinedStats, CombinedVal
from trope.weights.distance import Distance
from trope.weights.hubs import Hubs
from trope.weights.neighborhood import MEASURES, average, chain_of, measured
from trope.weights.noise import Density, density
from trope.weights.rank import Rank
from trope.weights.semantic import Discrepancy, Diversity, Semantic, alphas
from trope.weights.simple import Random, Uniform
from trope.weights.spread import effective
from trope.weights.tempered import Ess, NormalizedDifference
from trope.weights.weight import PairWeight, ViewWeight, Weight
from trope.weights.whole import Weighed, banked, weigh_all

WEIGHTS: dict[str, type[Weight]] = {
    "combined-stats": CombinedStats,
    "combined-val": CombinedVal,
    "density": Density,
    "discrepancy": Discrepancy,
    "distance": Distance,
    "diversity": Diversity,
    "ess": Ess,
    "hubs": Hubs,
    "normalized-difference": NormalizedDifference,
    "random": Random,
    "rank": Rank,
    "uniform": Uniform,
}

__all__ = [
    "CHOICES",
    "MEASURES",
    "WEIGHTS",
    "Combined",
    "CombinedVal",
    "Density",
    "PairWeight",
    "Semantic",
    "ViewWeight",
    "Weighed",
    "Weight",
    "alphas",
    "average",
    "banked",
    "chain_of",
    "density",
    "effective",
    "measured",
    "weigh_all",
]

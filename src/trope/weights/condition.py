"""What the scores of an epoch are like: why the weights made of them are as even as they are.

    deviation    of the scores over all pairs: one softmax makes weights that deviate about as much
    agreement    correlation of U_X and U_Y: what images and texts say alike, their difference lacks
    steadiness   correlation with the scores of the epoch before: a low one tells of a stale bank

Each is the mean over the measures and, but for agreement, over images and texts.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from trope.weights.spread import standard
from trope.weights.weight import Known

Sides = Float[np.ndarray, "measures 2 n"]


def condition(scores: Known) -> dict[str, float]:
    """Deviation and agreement of one epoch's scores, given by measure."""
    found = _stacked(scores)
    return {
        "deviation": float(found.std(axis=-1).mean()),
        "agreement": _correlation(found[:, 0], found[:, 1]),
    }


def steadiness(before: Known, now: Known) -> float:
    """How much the scores of two epochs go together."""
    return _correlation(_stacked(before), _stacked(now))


def _stacked(scores: Known) -> Sides:
    return np.stack([scores[name].astype(np.float64) for name in sorted(scores)])


def _correlation(left: Float[np.ndarray, "... n"], right: Float[np.ndarray, "... n"]) -> float:
    """The mean over rows of Pearson's coefficient; zero where all scores of one are equal."""
    return float((standard(left) * standard(right)).mean())

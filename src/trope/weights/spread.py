"""Weights over a batch: from scores to shares that sum to one, and how evenly they are spread.

softmax(u)_i = e^{u_i} / Σ_j e^{u_j}
effective(w) = (Σ w)² / (B Σ w²)          the effective sample size as a share of the batch
tempered(u)  = softmax(z / τ)             τ such that the effective size is a given share
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from jaxtyping import Float
from scipy.stats import rankdata

Rows: TypeAlias = Float[np.ndarray, "*rows b"]
Shares: TypeAlias = Float[np.ndarray, "*rows"]

DOUBLINGS, HALVINGS = 20, 45  # of 1/τ, until it is bracketed and then known
SMALLEST = 1e-12  # a standard deviation below it is rounding


def softmax(scores: Rows) -> Rows:
    """Shares in proportion to the exponentials of a row."""
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def weights_of(shares: Rows, scale: float) -> Rows:
    """Shares of each row as weights whose mean is the scale."""
    return np.asarray(scale * shares.shape[-1] * shares)


def effective(weights: Rows) -> Shares:
    """One where all weights are equal, 1/B where one has all."""
    squares = (weights**2).sum(axis=-1)
    return np.asarray(weights.sum(axis=-1) ** 2 / (weights.shape[-1] * squares))


def standard(scores: Rows) -> Rows:
    """Scores of mean zero and deviation one in each row; zeros where all are equal."""
    apart = scores - scores.mean(axis=-1, keepdims=True)
    deviation = apart.std(axis=-1, keepdims=True)
    return np.asarray(np.where(deviation > SMALLEST, apart / np.maximum(deviation, SMALLEST), 0))


def ranks(scores: Rows) -> Rows:
    """Places within each row, between 0 and 1; equal scores share theirs."""
    return np.asarray((rankdata(scores, axis=-1) - 0.5) / scores.shape[-1])


def tempered(scores: Rows, share: float) -> Rows:
    """Softmax of the standardized scores, as hot as makes the effective size that share.

    Where several are largest and equal it cannot become smaller than their number.
    """
    z = standard(scores)
    low, high = np.zeros(z.shape[:-1]), np.ones(z.shape[:-1])
    for _ in range(DOUBLINGS):
        high = np.where(_even(z, high) > share, 2 * high, high)
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        above = _even(z, middle) > share
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return softmax(z * high[..., None])


def _even(z: Rows, cold: Shares) -> Shares:
    return effective(softmax(z * cold[..., None]))

"""How well what a pair has suits what was foretold, against what all other pairs have.

    s_ij = p_i · q_j        what pair i was foretold, what pair j has
    z_i  = (s_ii - mean of s_ij over j ≠ i) / their standard deviation

A product alone says little: some texts suit every picture. Means and deviations over all others
are closed forms of the sums of q and of q qᵀ, so that no pair is compared with any other.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Float64, Int

BLOCK = 2**12  # rows at a time
TINY = 1e-12  # a variance that is rounding alone

Foretold: TypeAlias = Float[np.ndarray, "n d"]
Actual: TypeAlias = Float[np.ndarray, "n d"]


def standing(foretold: Foretold, actual: Actual) -> Float64[np.ndarray, " n"]:
    """z of each pair; zero where nothing was foretold, or all others have the same."""
    q = actual.astype(np.float64)
    total, square, others = q.sum(axis=0), q.T @ q, len(q) - 1
    found = np.zeros(len(q))
    for start in range(0, len(q), BLOCK):
        part = slice(start, start + BLOCK)
        p = foretold[part].astype(np.float64)
        own = np.einsum("nd,nd->n", p, q[part])
        mean = (p @ total - own) / others
        spread = (np.einsum("nd,nd->n", p @ square, p) - own**2) / others - mean**2
        some = spread > TINY
        found[part][some] = (own - mean)[some] / np.sqrt(spread[some])
    return found


def outdone(
    foretold: Foretold, actual: Actual, sample: Int[np.ndarray, " sample"]
) -> Float64[np.ndarray, " n"]:
    """The share of a sample of others that suits better what was foretold; equals count half."""
    found = np.zeros(len(actual))
    drawn = actual[sample]
    for start in range(0, len(actual), BLOCK):
        rows = np.arange(start, min(start + BLOCK, len(actual)))
        own = np.einsum("nd,nd->n", foretold[rows], actual[rows])[:, None]
        theirs = foretold[rows] @ drawn.T
        other = sample != rows[:, None]
        better = np.where(theirs == own, 0.5, theirs > own) * other
        found[rows] = better.sum(axis=1) / np.maximum(other.sum(axis=1), 1)
    return found

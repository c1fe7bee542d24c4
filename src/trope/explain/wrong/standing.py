"""How well what a pair has suits what was foretold, against what all other pairs have.

    s_ij = p_i · q_j        what pair i was foretold, what pair j has
    z_i  = (s_ii - mean of s_ij over j ≠ i) / their standard deviation

A product alone says little: some texts suit every picture. Means and deviations over all others
are closed forms of the sums of q and of q qᵀ, so that no pair is compared with any other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Float64, Int

BLOCK = 2**12  # rows at a time
TINY = 1e-12  # a variance that is rounding alone
EQUAL = 1e-10  # of two lengths' product: what equal products differ by when rounded

Foretold: TypeAlias = Float[np.ndarray, "n d"]
Actual: TypeAlias = Float[np.ndarray, "n d"]


def standing(foretold: Foretold, actual: Actual) -> Float64[np.ndarray, " n"]:
    """z of each pair; zero where nothing was foretold, or all others have the same."""
    total, square = _sums(actual)
    others, found = len(actual) - 1, np.zeros(len(actual))
    for part in _blocks(len(actual)):
        p, q = foretold[part].astype(np.float64), actual[part].astype(np.float64)
        own = np.einsum("nd,nd->n", p, q)
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
    drawn = actual[sample].astype(np.float64)
    longest = np.linalg.norm(drawn, axis=1).max(initial=0)
    for part in _blocks(len(actual)):
        p, rows = foretold[part].astype(np.float64), np.arange(len(actual))[part, None]
        gap = p @ drawn.T - np.einsum("nd,nd->n", p, actual[part])[:, None]
        equal = np.abs(gap) <= EQUAL * longest * np.linalg.norm(p, axis=1, keepdims=True)
        other = sample != rows
        better = np.where(equal, 0.5, gap > 0) * other
        found[part] = better.sum(axis=1) / np.maximum(other.sum(axis=1), 1)
    return found


def _sums(q: Actual) -> tuple[Float64[np.ndarray, " d"], Float64[np.ndarray, "d d"]]:
    """The sums of q and of q qᵀ; no more than a block is held in double precision."""
    size = q.shape[1]
    total, square = np.zeros(size), np.zeros((size, size))
    for part in _blocks(len(q)):
        some = q[part].astype(np.float64)
        total += some.sum(axis=0)
        square += some.T @ some
    return total, square


def _blocks(count: int) -> Iterator[slice]:
    return (slice(start, start + BLOCK) for start in range(0, count, BLOCK))

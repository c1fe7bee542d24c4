"""What all other pairs foretell of a pair: a ridge regression that has not seen it.

    B = (XᵀX + λ)⁻¹ XᵀY        λ = strength · the mean square of X along a direction

A fit to all rows leans toward each of them, right or wrong. A fit of its own without each takes no
more than one to all: with L Lᵀ = XᵀX + λ and V = X L⁻ᵀ the latter is V VᵀY, and what rows g would
be foretold without them, by the same λ, is

    Y_g - (I - V_g V_gᵀ)⁻¹ (Y_g - (V VᵀY)_g)

Rows that are tied are left out together. The means that vectors are taken about, and λ, are those
of all rows: a pair has a part in them, of one in as many as there are.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Float32, Float64, Int
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular

from trope.explain.wrong.sides import Rows

BLOCK = 2**22  # numbers in double precision at a time

X: TypeAlias = Float[np.ndarray, "n d"]
Y: TypeAlias = Float[np.ndarray, "n e"]


def left_out(x: X, y: Y, tied: Rows, strength: float) -> Float32[np.ndarray, "n e"]:
    """What each row is foretold by a fit to all rows that are not tied to it."""
    square, product = _sums(x, y)
    _penalize(square, strength)
    lower = cholesky(square, lower=True)
    whole = solve_triangular(lower, product, lower=True)
    found = np.empty(y.shape, np.float32)
    for rows in _together(tied, x.shape[1]):
        if rows.shape[1] > x.shape[1]:  # cheaper to fit anew than to turn so large a block round
            (rows,) = rows
            own, pairs = _sums(x[rows], y[rows])
            rest = cho_factor(square - own, lower=True)
            found[rows] = _applied(x[rows], cho_solve(rest, product - pairs))
        else:
            some = x[rows].astype(np.float64), y[rows].astype(np.float64)
            found[rows] = _without(*some, lower, whole)
    return found


def fitted(x: X, y: Y, strength: float) -> Float32[np.ndarray, "n e"]:
    """The same by a fit to all rows, each of which it has seen."""
    square, product = _sums(x, y)
    _penalize(square, strength)
    return _applied(x, np.linalg.solve(square, product))


def _sums(x: X, y: Y) -> tuple[Float64[np.ndarray, "d d"], Float64[np.ndarray, "d e"]]:
    """XᵀX and XᵀY, of which no more than a block is held in double precision."""
    d, e = x.shape[1], y.shape[1]
    square, product = np.zeros((d, d)), np.zeros((d, e))
    for part in _blocks(len(x), d + e):
        some = x[part].astype(np.float64)
        square += some.T @ some
        product += some.T @ y[part].astype(np.float64)
    return square, product


def _penalize(square: Float64[np.ndarray, "d d"], strength: float) -> None:
    """Add λ to XᵀX, in place."""
    square[np.diag_indices_from(square)] += strength * max(np.trace(square) / len(square), 1e-9)


def _applied(x: X, fit: Float64[np.ndarray, "d e"]) -> Float32[np.ndarray, "n e"]:
    """What a fit foretells."""
    found = np.empty((len(x), fit.shape[1]), np.float32)
    for part in _blocks(len(x), sum(fit.shape)):
        found[part] = x[part].astype(np.float64) @ fit
    return found


def _without(
    x: Float64[np.ndarray, "groups size d"],
    y: Float64[np.ndarray, "groups size e"],
    lower: Float64[np.ndarray, "d d"],
    whole: Float64[np.ndarray, "d e"],
) -> Float64[np.ndarray, "groups size e"]:
    """Groups of one size, each left out by itself."""
    groups, size, d = x.shape
    v = solve_triangular(lower, x.reshape(-1, d).T, lower=True).T.reshape(groups, size, d)
    apart = y - v @ whole
    if size == 1:
        share = 1 - np.einsum("gsd,gsd->gs", v, v)[..., None]
        return np.asarray(y - apart / share)
    return np.asarray(y - np.linalg.solve(np.eye(size) - v @ v.transpose(0, 2, 1), apart))


def _blocks(count: int, size: int) -> Iterator[slice]:
    """Parts of as many rows of a size as a block holds."""
    step = max(1, BLOCK // max(size, 1))
    return (slice(start, start + step) for start in range(0, count, step))


def _together(tied: Rows, d: int) -> Iterator[Int[np.ndarray, "groups size"]]:
    """The rows of groups, as many groups of one size at a time as a block holds."""
    order = np.argsort(tied, kind="stable")
    _, first, sizes = np.unique(tied[order], return_index=True, return_counts=True)
    for size in np.unique(sizes).tolist():
        starts = first[sizes == size]
        step = 1 if size > d else max(1, BLOCK // (size * d))
        for begin in range(0, len(starts), step):
            yield order[starts[begin : begin + step, None] + np.arange(size)]

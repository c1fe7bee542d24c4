"""What all other pairs foretell of a pair: a ridge regression that has not seen it.

    B = (XᵀX + λ)⁻¹ XᵀY        λ = strength · the mean square of X along a direction

A model that was fitted to a pair knows it by heart and finds nothing wrong with it. Fitted anew
without each pair it would not, and that takes no more than one fit: with L Lᵀ = XᵀX + λ and
V = X L⁻ᵀ the fit to all rows is V VᵀY, and what rows g would be foretold without them is

    Y_g - (I - V_g V_gᵀ)⁻¹ (Y_g - (V VᵀY)_g)

exactly. Rows that are tied are left out together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Float32, Float64, Int
from scipy.linalg import cho_factor, cho_solve, cholesky, solve_triangular

from trope.explain.wrong.sides import Rows

BLOCK = 2**22  # numbers of V at a time

X: TypeAlias = Float[np.ndarray, "n d"]
Y: TypeAlias = Float[np.ndarray, "n e"]


def left_out(x: X, y: Y, tied: Rows, strength: float) -> Float32[np.ndarray, "n e"]:
    """What each row is foretold by a fit to all rows that are not tied to it."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    square, product = _penalized(x, strength), x.T @ y
    lower = cholesky(square, lower=True)
    whole = solve_triangular(lower, product, lower=True)
    found = np.empty(y.shape, np.float32)
    for rows in _together(tied, x.shape[1]):
        if rows.shape[1] > x.shape[1]:  # cheaper to fit anew than to turn so large a block round
            (rows,) = rows
            rest = cho_factor(square - x[rows].T @ x[rows], lower=True)
            found[rows] = x[rows] @ cho_solve(rest, product - x[rows].T @ y[rows])
        else:
            found[rows] = _without(x[rows], y[rows], lower, whole)
    return found


def fitted(x: X, y: Y, strength: float) -> Float32[np.ndarray, "n e"]:
    """The same by a fit to all rows, each of which it has seen."""
    x, y = x.astype(np.float64), y.astype(np.float64)
    return np.asarray(x @ np.linalg.solve(_penalized(x, strength), x.T @ y), np.float32)


def _penalized(x: Float64[np.ndarray, "n d"], strength: float) -> Float64[np.ndarray, "d d"]:
    square: Float64[np.ndarray, "d d"] = x.T @ x
    square[np.diag_indices_from(square)] += strength * max(np.trace(square) / len(square), 1e-9)
    return square


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


def _together(tied: Rows, d: int) -> Iterator[Int[np.ndarray, "groups size"]]:
    """The rows of groups, as many groups of one size at a time as a block holds."""
    order = np.argsort(tied, kind="stable")
    _, first, sizes = np.unique(tied[order], return_index=True, return_counts=True)
    for size in np.unique(sizes).tolist():
        starts = first[sizes == size]
        step = 1 if size > d else max(1, BLOCK // (size * d))
        for begin in range(0, len(starts), step):
            yield order[starts[begin : begin + step, None] + np.arange(size)]

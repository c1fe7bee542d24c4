"""From what a model gives to what an index keeps of it for the model's scorer, and back.

Parts have length one, and are kept as integers of 16 bits, the largest of a row at its limit: half
the size, and nearer to what they were than floating point of 16 bits would be. Logarithms of
standard deviations are kept as they are: they take no more than the vectors.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float, Int

from trope.encoders.plan import Plan
from trope.encoders.scorers import scorer_settings
from trope.encoders.scorers.matching import Match
from trope.index.details import Counts, Details, Kind, Rows
from trope.maths import normalize
from trope.views import Encoded

LIMIT = 2**15 - 1


def kind_of(plan: Plan) -> Kind:
    """What the scorer of a model needs; nothing, where there is none."""
    if plan.fragments:
        return "locals"
    return "log_sigma" if isinstance(scorer_settings(plan.scorer), Match) else ""


def details_of(encoded: Encoded, kind: Kind) -> tuple[Rows, Counts]:
    """The rows of encoded items, one after the other, and how many each has."""
    if kind == "log_sigma":
        assert encoded.log_sigma is not None
        return encoded.log_sigma.float().cpu().numpy(), np.ones(len(encoded.mean), np.int64)
    assert encoded.locals is not None
    parts = encoded.locals.float().cpu().numpy()
    if encoded.present is None:
        whole, counts = parts.reshape(-1, parts.shape[2]), np.full(len(parts), parts.shape[1])
    else:
        present = encoded.present.cpu().numpy()
        whole, counts = parts[present], present.sum(axis=1)
    return _as_integers(whole), counts.astype(np.int64)


def _as_integers(parts: Float[np.ndarray, "rows d"]) -> Int[np.ndarray, "rows d"]:
    """Directions in 16 bits; a row of zeros stays one."""
    largest = np.abs(parts).max(axis=1, keepdims=True, initial=0)
    scaled = parts * (LIMIT / np.where(largest > 0, largest, 1))
    return np.asarray(np.rint(scaled), np.int16)


def encoded_from(details: Details, mean: Float[np.ndarray, "items d"]) -> Encoded:
    """Items as the model gave them."""
    points, found = torch.from_numpy(np.ascontiguousarray(mean)), details.rows()
    if details.kind == "log_sigma":
        return Encoded(points, log_sigma=torch.from_numpy(np.concatenate(found)))
    counts = details.spots[:, 1]
    present = np.arange(max(int(counts.max(initial=0)), 1)) < counts[:, None]
    whole = np.zeros((*present.shape, mean.shape[1]), np.float32)
    whole[present] = np.concatenate(found)
    parts = normalize(torch.from_numpy(whole))
    return Encoded(points, locals=parts, present=torch.from_numpy(present))

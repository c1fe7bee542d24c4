"""Shares over many pairs, each with an interval and with what chance alone would give."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Bool, Int
from scipy import sparse

from trope.data.pairs import Pairs
from trope.errors import UsageError

Z = 1.959964  # 95 % of a normal distribution lie within


@dataclass(frozen=True)
class Share:
    """A share of neighbors, the mean over pairs, with its 95 % interval and the chance level."""

    value: float
    low: float
    high: float
    chance: float
    pairs: int

    def document(self) -> dict[str, float]:
        """As plain numbers."""
        return asdict(self)


def share(
    hits: Bool[np.ndarray, "queries k"], there: Bool[np.ndarray, "queries k"], chance: float
) -> Share:
    """The mean over rows of the share of hits among what is there; rows with nothing are left out.

    The interval is that of a mean over independent rows.
    """
    counts = there.sum(axis=1)
    shares = (hits & there).sum(axis=1)[counts > 0] / counts[counts > 0]
    mean = float(shares.mean()) if len(shares) else 0.0
    spread = float(shares.std(ddof=1) / np.sqrt(len(shares))) if len(shares) > 1 else 0.0
    low, high = max(0.0, mean - Z * spread), min(1.0, mean + Z * spread)
    return Share(mean, low, high, chance, len(shares))


def agreement(
    pairs: Pairs,
    column: str,
    usable: Bool[np.ndarray, " rows"],
    rows: Int[np.ndarray, " queries"],
    ids: Int[np.ndarray, "queries k"],
) -> Share:
    """How often neighbors have a value of a column in common, and how often any two rows do."""
    try:
        held = _held(pairs.column(column))
    except pa.ArrowNotImplementedError:
        raise UsageError(f"agree={column}: its values cannot be compared") from None
    there = ids >= 0
    place, spot = np.nonzero(there)
    common = held[rows[place]].multiply(held[ids[place, spot]]).sum(axis=1) > 0
    hits = np.zeros(ids.shape, bool)
    hits[place, spot] = common
    others = held[np.flatnonzero(usable)]
    met = ((held[rows] @ others.T) > 0).sum(axis=1) - (held[rows].sum(axis=1) > 0)
    return share(hits, there, float(np.mean(met) / max(1, others.shape[0] - 1)))


def _held(column: pa.ChunkedArray) -> sparse.csr_array:
    """Rows by values: one where a row has the value, or has it in its list."""
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        counts = np.asarray(pc.fill_null(pc.list_value_length(column), 0))
        flat = pc.list_flatten(column)
    else:
        counts, flat = np.asarray(column.is_valid()).astype(np.int64), column.drop_null()
    codes = np.asarray(flat.combine_chunks().dictionary_encode(null_encoding="encode").indices)
    owners = np.repeat(np.arange(len(column)), counts)
    shape = (len(column), int(codes.max(initial=-1)) + 1)
    held = sparse.csr_array((np.ones(len(codes), np.int32), (owners, codes)), shape=shape)
    held.data[:] = 1  # a value said twice is said
    return held

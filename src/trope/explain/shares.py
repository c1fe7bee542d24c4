"""Shares over many pairs, each with an interval and with what chance alone would give."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Bool, Float, Int
from scipy import sparse

from trope.data.pairs import Pairs
from trope.errors import UsageError

Z = 1.959964  # 95 % of a normal distribution lie within
BLOCK = 2**22  # pairs of rows compared at a time: 12 bytes each

Hits: TypeAlias = Bool[np.ndarray, "queries k"]
Rows: TypeAlias = Int[np.ndarray, " queries"]
Chances: TypeAlias = Float[np.ndarray, " queries"]


@dataclass(frozen=True)
class Share:
    """A share of neighbors, the mean over pairs, with its 95 % interval and the chance level."""

    value: float
    low: float
    high: float
    chance: float
    pairs: int
    groups: int

    def document(self) -> dict[str, float]:
        """As plain numbers."""
        return asdict(self)


def share(hits: Hits, there: Hits, chance: Chances, groups: Rows) -> Share:
    """The mean over rows of the share of hits among what is there; rows with nothing are left out.

    The interval is that of a mean over independent groups of rows, which need not be independent
    within; `chance` is each row's own.
    """
    counts = there.sum(axis=1)
    some = counts > 0
    if not some.any():
        return Share(0.0, 0.0, 1.0, 0.0, 0, 0)
    shares = (hits & there).sum(axis=1)[some] / counts[some]
    mean = float(shares.mean())
    sums = np.bincount(np.unique(groups[some], return_inverse=True)[1], shares - mean)
    spread = _spread(sums, len(shares))
    low, high = max(0.0, mean - Z * spread), min(1.0, mean + Z * spread)
    return Share(mean, low, high, float(chance[some].mean()), len(shares), len(sums))


def _spread(sums: Float[np.ndarray, " groups"], rows: int) -> float:
    """The standard error of a mean over rows from each group's sum of deviations (Liang & Zeger).

    With one row a group it is the usual one; of one group nothing is known.
    """
    if len(sums) < 2:
        return float("inf")
    return float(np.sqrt(len(sums) / (len(sums) - 1) * np.square(sums).sum()) / rows)


def groups_of(pairs: Pairs) -> Int[np.ndarray, " rows"]:
    """A number for each row, the same for rows of a group; a row without one is its own."""
    indices = pairs.column("group").combine_chunks().dictionary_encode().indices
    codes = np.asarray(pc.fill_null(indices, -1)).astype(np.int64)
    return np.where(codes < 0, len(codes) + np.arange(len(codes)), codes)


def agreement(
    pairs: Pairs,
    column: str,
    usable: Bool[np.ndarray, " rows"],
    rows: Rows,
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
    itself = usable[rows] & (held[rows].sum(axis=1) > 0)
    chance = (_meeting(held, rows, others) - itself) / max(1, others.shape[0] - 1)
    return share(hits, there, chance, groups_of(pairs)[rows])


def _meeting(held: sparse.csr_array, rows: Rows, others: sparse.csr_array) -> Rows:
    """With how many of the others each row has a value in common, itself included."""
    if held.sum(axis=1).max(initial=0) <= 1:  # who has one value meets all who have it
        return np.asarray(held[rows] @ others.sum(axis=0))
    step = max(1, BLOCK // max(1, others.shape[0]))
    parts = (held[rows[start : start + step]] for start in range(0, len(rows), step))
    return np.concatenate([np.diff((part @ others.T).indptr) for part in parts])


def _held(column: pa.ChunkedArray) -> sparse.csr_array:
    """Rows by values: one where a row has the value, or has it in its list; null is no value."""
    count = len(column)
    owners = np.arange(count)
    if pa.types.is_list(column.type) or pa.types.is_large_list(column.type):
        owners = np.repeat(owners, np.asarray(pc.fill_null(pc.list_value_length(column), 0)))
        column = pc.list_flatten(column)
    owners = owners[np.asarray(column.is_valid())]
    codes = np.asarray(column.drop_null().combine_chunks().dictionary_encode().indices)
    shape = (count, int(codes.max(initial=-1)) + 1)
    held = sparse.csr_array((np.ones(len(codes), np.int32), (owners, codes)), shape=shape)
    held.data[:] = 1  # a value said twice is said
    return held

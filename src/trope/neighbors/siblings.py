"""Rows that are the same in one way, such as the texts of one picture, and differ in another."""

from __future__ import annotations

import numpy as np
from jaxtyping import Int


def siblings(
    codes: Int[np.ndarray, " n"], most: int, tied: Int[np.ndarray, " n"] | None = None
) -> Int[np.ndarray, "n k"]:
    """For each row others with its code, up to so many; -1 where there are fewer.

    Rows with the same number in `tied` are none of each other's. Who is left comes in turns: each
    row begins where those tied to it end.
    """
    tied = np.arange(len(codes)) if tied is None else tied
    order = np.lexsort((tied, codes))
    start, end = _runs(codes[order])
    first, last = _runs(codes[order], tied[order])
    apart = (end - start) - (last - first)
    step = np.arange(max(min(most, int(apart.max(initial=0))), 1))
    place = (last - start)[:, None] + step
    chosen = order[start[:, None] + place % (end - start)[:, None]]
    ids = np.empty(chosen.shape, np.int64)
    ids[order] = np.where(step < apart[:, None], chosen, -1)
    return ids


def _runs(*sorted_codes: Int[np.ndarray, " n"]) -> tuple[np.ndarray, np.ndarray]:
    """For each row where those that equal it begin, and where they end."""
    new = np.any([np.diff(codes, prepend=codes[:1] - 1) != 0 for codes in sorted_codes], axis=0)
    starts = np.flatnonzero(new)
    which = np.cumsum(new) - 1
    return starts[which], np.append(starts[1:], len(new))[which]

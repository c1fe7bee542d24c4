"""Where the right item of each query stands among the others: counts, never the whole matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float, Int

BLOCK = 2**24  # scores looked at together

Scores: TypeAlias = Float[np.ndarray, "queries items"]
Rows: TypeAlias = Int[np.ndarray, " rows"]


@dataclass(frozen=True, eq=False)
class Places:
    """For each query: how many wrong items there are, and how many score higher, or the same.

    The right item that counts is the one with the best score.
    """

    others: Int[np.ndarray, " queries"]
    above: Int[np.ndarray, " queries"]
    tied: Int[np.ndarray, " queries"]

    def __len__(self) -> int:
        return len(self.others)


def places(
    scores: Callable[[Rows], Scores],
    right: Callable[[Rows], Bool[np.ndarray, "queries items"]],
    queries: int,
    items: int,
) -> Places:
    """Counts over blocks of queries; `right` marks all items that are right, or not to count."""
    size = max(1, BLOCK // max(items, 1))
    blocks = [np.arange(i, min(i + size, queries)) for i in range(0, queries, size)]
    found = [_counted(scores(rows), right(rows)) for rows in blocks]
    columns = zip(*found, strict=True) if found else [[np.empty(0, np.int64)]] * 3
    return Places(*(np.concatenate(list(column)) for column in columns))


def _counted(scores: Scores, right: Bool[np.ndarray, "queries items"]) -> tuple[Rows, Rows, Rows]:
    best = np.where(right, scores, -np.inf).max(axis=1, initial=-np.inf)[:, None]
    wrong = ~right
    above = np.count_nonzero(wrong & (scores > best), axis=1)
    tied = np.count_nonzero(wrong & (scores == best), axis=1)
    return np.count_nonzero(wrong, axis=1), above, tied

"""c-way tasks: the right item among c - 1 others, as the exact expectation over all draws.

One random draw adds about a point of noise on a thousand queries; the counts of items that score
higher or the same give the expectation itself.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Float
from scipy.special import gammaln

from trope.errors import DataError
from trope.metrics.counting import Places

Values = Float[np.ndarray, " queries"]


def recall_in_task(places: Places, ways: int, k: int = 1) -> Values:
    """The chance that the right item is among the k best of a task of so many items.

    Items of the same score are in random order, so the right one stands with equal chance before
    any number of them.
    """
    _refuse(places, ways)
    most = int(places.tied.max(initial=0))
    total = np.zeros(len(places))
    for before in range(most + 1):
        counts = before <= places.tied
        total += np.where(counts, _within(places, before, ways, k), 0.0)
    return np.asarray(total / (places.tied + 1))


def mean_rank_in_task(places: Places, ways: int) -> Values:
    """The expected number of items before the right one."""
    _refuse(places, ways)
    before = places.above + places.tied / 2
    return np.asarray((ways - 1) * before / np.maximum(places.others, 1))


def _within(places: Places, before: int, ways: int, k: int) -> Values:
    """The chance that fewer than k of the drawn items are among those before the right one."""
    higher, others, drawn = places.above + before, places.others, ways - 1
    chance = np.zeros(len(places))
    for hits in range(min(k, drawn + 1)):
        possible = (hits <= higher) & (drawn - hits <= others - higher)
        logs = _choose(higher, hits) + _choose(others - higher, drawn - hits)
        chance += np.where(possible, np.exp(logs - _choose(others, drawn)), 0.0)
    return chance


def _choose(n: np.ndarray, k: int) -> Values:
    """The logarithm of n over k; what is impossible is left to the caller."""
    safe = np.maximum(n, k)
    return np.asarray(gammaln(safe + 1) - gammaln(k + 1) - gammaln(safe - k + 1))


def _refuse(places: Places, ways: int) -> None:
    fewest = int(places.others.min(initial=ways))
    if ways < 2:
        raise ValueError(f"a task needs at least 2 items, found {ways}")
    if fewest < ways - 1:
        raise DataError(f"a query has only {fewest} wrong items; {ways}-way tasks need {ways - 1}")

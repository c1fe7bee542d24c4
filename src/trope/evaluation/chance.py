"""What an order by chance would score, query by query: the figure to read beside each metric."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Float64, Int
from scipy.special import gammaln

from trope.metrics import Block
from trope.metrics.pmrp import APART, plausible

Values: TypeAlias = Float64[np.ndarray, " queries"]
Counts: TypeAlias = Int[np.ndarray, " queries"]


def by_chance(block: Block, names: Collection[str]) -> dict[str, Values]:
    """The expected value of each named metric that has a closed form, over all orders."""
    found = {name: _expected(block, name) for name in names} | _plausible(block, names)
    return {name: values for name, values in found.items() if values is not None}


def _expected(block: Block, name: str) -> Values | None:
    right, items = block.positives, block.items
    if task := re.fullmatch(r"recall@(\d+)/(\d+)-way", name):
        return _where(right, int(task[1]) / int(task[2]))
    if task := re.fullmatch(r"mean-rank/(\d+)-way", name):
        return _where(right, (int(task[1]) - 1) / 2)
    if cut := re.fullmatch(r"recall@(\d+)", name):
        return _where(right, 1 - none_within(right, items, int(cut[1])))
    if name.startswith("asp/"):
        return np.full(len(right), (items + 1) / (2 * items))
    if name.startswith(("ndcg", "semantic-map")):
        return None if block.labels is None else _of_labels(block, name)
    simple = FORMULAS.get(name)
    return None if simple is None else _where(right, simple(right, items))


def none_within(right: Counts, items: int, cut: int) -> Values:
    """The chance that none of the right items is among the first so many."""
    wrong = items - right
    possible = wrong >= cut
    logs = gammaln(wrong + 1) - gammaln(np.where(possible, wrong - cut, 0) + 1)
    logs -= gammaln(items + 1) - gammaln(items - min(cut, items) + 1)
    return np.where(possible, np.exp(logs), 0.0)


def first_rank(right: Counts, items: int) -> Values:
    """The place of the first of some right items, from 1."""
    return np.asarray((items + 1) / (right + 1))


def precision(right: Counts, items: int) -> Values:
    """The share of right items anywhere."""
    return np.asarray(right / items)


def precision_within(right: Counts, items: int) -> Values:
    """mAP@R: at each of the first R places, precision times the chance that its item is right."""
    harmonic = _harmonic(int(right.max(initial=0)))[right]
    others = (right - 1) / max(items - 1, 1)
    return np.asarray((harmonic + others * (right - harmonic)) / items)


def average_precision(right: Counts, items: int) -> Values:
    """mAP: the same over all places."""
    harmonic = _harmonic(items)[items]
    others = (right - 1) / max(items - 1, 1)
    return np.asarray((harmonic + others * (items - harmonic)) / items)


FORMULAS: dict[str, Callable[[Counts, int], Values]] = {
    "mean-rank": first_rank,
    "r-precision": precision,
    "map@r": precision_within,
    "map": average_precision,
}


def median_rank(right: Counts, items: int) -> float:
    """The rank that half of the queries reach by chance."""
    low, high = 1, items
    while low < high:
        middle = (low + high) // 2
        reached = 1 - none_within(right, items, middle).mean()
        low, high = (low, middle) if reached >= 0.5 else (middle + 1, high)
    return float(low)


def _of_labels(block: Block, name: str) -> Values:
    assert block.labels is not None
    shared, items = block.labels.shared, block.items
    if name == "semantic-map":
        count = np.count_nonzero(shared, axis=1)
        return _where(count, average_precision(count, items))
    cut = re.fullmatch(r"ndcg@(\d+)", name)
    return _gain(shared, min(int(cut[1]), items) if cut else items)


def _plausible(block: Block, names: Collection[str]) -> dict[str, Values]:
    """PMRP: the share of the labeled items that are plausible."""
    wanted = [name for name in names if name.startswith("pmrp")]
    if not wanted or block.labels is None:
        return {}
    labeled = np.count_nonzero(block.labels.of_items)
    shares = plausible(block.labels, APART) / max(labeled, 1)
    shares[shares == 0] = np.nan
    there = (~np.isnan(shares)).sum(axis=0)
    mean = np.nansum(shares, axis=0) / np.where(there > 0, there, np.nan)
    each = {str(limit): shares[i] for i, limit in enumerate(APART)}
    return {name: each.get(name.rpartition("/")[2], mean) for name in wanted}


def _gain(shared: Int[np.ndarray, "queries items"], cut: int) -> Values:
    """NDCG: every place has the mean gain; the ideal has the highest gains first."""
    discounts = np.concatenate([[0.0], np.cumsum(1 / np.log2(np.arange(cut) + 2.0))])
    ideal, passed = np.zeros(len(shared)), np.zeros(len(shared), np.int64)
    for gain in range(int(shared.max(initial=0)), 0, -1):
        reached = np.minimum(passed + np.count_nonzero(shared == gain, axis=1), cut)
        ideal += gain * (discounts[reached] - discounts[passed])
        passed = reached
    expected = shared.mean(axis=1) * discounts[-1]
    unknown = np.full(len(shared), np.nan)
    return np.asarray(np.divide(expected, ideal, out=unknown, where=ideal > 0))


def _where(right: Counts, values: float | Float[np.ndarray, " queries"]) -> Values:
    """NaN for queries that do not count."""
    return np.where(right > 0, values, np.nan)


def _harmonic(most: int) -> Float64[np.ndarray, " numbers"]:
    """1 + 1/2 + ... + 1/n, for n from 0."""
    return np.concatenate([[0.0], np.cumsum(1 / np.arange(1.0, most + 1))])

"""Average semantic precision: does a model rank the gallery as what the captions say would rank it?

Li et al., NeurIPS 2022. For a query with G items, of which item g stands at place r(g) by the
model's scores and at place s(g) by relevance, both from 1:

    ASP = 1/G Σ_g min(r(g), s(g)) / max(r(g), s(g))

1 where both orders agree; two orders that have nothing to do with each other give 1/2. Equal
scores stand in one fixed shuffle of the gallery and equal relevance in another: in the same one, a
model that scores everything alike would agree with all that is equally irrelevant.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from jaxtyping import Float32, Float64, Int, Int32

from trope.compiled import compiled, spread
from trope.errors import UsageError
from trope.metrics.block import Block
from trope.metrics.sorting import (
    DIGITS,
    LOW,
    VALUES,
    bits_of,
    loading_order,
    sort_row,
    tie_priority,
)

PARTS = ("cider", "bleu", "rouge")  # of the mean, as the authors have it

Order: TypeAlias = Int32[np.ndarray, "queries items"]
Grades: TypeAlias = Float32[np.ndarray, "queries items"]
Values: TypeAlias = Float64[np.ndarray, " queries"]


@dataclass(frozen=True)
class Asp:
    """ASP by every measure of relevance that a block has, and by the mean of CIDEr, BLEU and ROUGE.

    `gains` are cuts at which `gain` is reported too; those that reach the size of the gallery say
    nothing: left out.
    """

    gains: tuple[int, ...] = ()
    needs: ClassVar[frozenset[str]] = frozenset({"relevance"})

    def __post_init__(self) -> None:
        if any(k < 1 for k in self.gains):
            raise UsageError(f"gains: at least 1, found {min(self.gains)}")

    def __call__(self, block: Block) -> Mapping[str, Values]:
        """Measure the queries of a block; a measure is computed once and let go."""
        found: dict[str, Values] = {}
        priority = tie_priority(block.items, "relevance")[block.priority]
        for name, relevance in _measures(block):
            found[f"asp/{name}"] = asp(block.order, relevance, priority)
            for k in (k for k in self.gains if k < block.items):
                found[f"gain@{k}/{name}"] = gain(block.order, relevance, k)
        return found


def asp(order: Order, relevance: Grades, priority: Int[np.ndarray, " items"]) -> Values:
    """ASP of each query, from the model's order of the items and their relevance.

    Items of equal relevance stand in the order of `priority`, which is not that of equal scores.
    """
    bits, loading = bits_of(relevance), loading_order(priority)
    values = np.full(len(order), np.nan)

    def work(first: int, last: int) -> None:
        _agreements(order, bits, loading, values, first, last)

    if order.size:
        spread(len(order), order.shape[1], work)
    return values


def gain(order: Order, relevance: Grades, k: int) -> Values:
    """Relevance of the model's first k items, as a share of the most that k items can have.

    What the authors' PCME code logs as ASP_5, ASP_10, ASP_20. NaN where nothing is relevant.
    """
    k = min(k, order.shape[1])
    best = np.partition(relevance, order.shape[1] - k, axis=1)[:, order.shape[1] - k :]
    most = best.sum(axis=1, dtype=np.float64)
    had = np.take_along_axis(relevance, order[:, :k], axis=1).sum(axis=1, dtype=np.float64)
    share = np.full(len(order), np.nan)
    np.divide(had, most, out=share, where=most > 0)
    return share


def _measures(block: Block) -> Iterator[tuple[str, Grades]]:
    """Each measure of the block; their mean without computing the parts a second time."""
    total: Grades | None = None
    whole = set(PARTS) <= set(block.relevance)
    for name in sorted(block.relevance, key=lambda name: (*PARTS, name).index(name)):
        if name == "mean" and whole:
            continue
        relevance = block.relevance[name]()
        yield name, relevance
        if whole and name in PARTS:
            total = relevance if total is None else total + relevance
    if total is not None:
        yield "mean", total / np.float32(len(PARTS))


@compiled
def _agreements(
    order: np.ndarray,
    bits: np.ndarray,
    loading: np.ndarray,
    values: np.ndarray,
    first: int,
    last: int,
) -> None:
    items = len(loading)
    keys, spare = np.empty(items, np.uint64), np.empty(items, np.uint64)
    counts, places = np.empty((DIGITS, VALUES), np.uint32), np.empty(items, np.uint32)
    for row in range(first, last):
        done = sort_row(bits[row], loading, keys, spare, counts)
        for place in range(items):
            places[done[place] & LOW] = place
        total = 0.0
        for place in range(items):
            other = places[np.uint32(order[row, place])]
            total += (min(place, other) + 1) / (max(place, other) + 1)
        values[row] = total / items

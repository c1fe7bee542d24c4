"""Plausible-match R-precision (PCME, CVPR 2021, Sec. 4.1).

Two items match plausibly at ζ when at most ζ labels set them apart: |A| + |B| - 2 |A ∩ B| <= ζ.
With R plausible items in the gallery, a query scores the share of them among the first R. PMRP is
the mean over ζ = 0, 1, 2. Queries and items without labels are left out of queries and gallery.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from jaxtyping import Float64, Int, Int32, Int64

from trope.compiled import compiled, spread
from trope.errors import UsageError
from trope.metrics.block import Block, Scores, Values
from trope.metrics.labels import Labels
from trope.metrics.sorting import HALF, LOW, bits_of, descending, loading_order

APART = (0, 1, 2)
BINS = 2**12
FAR = 2**30  # labels of an item without labels
STRETCH = 128  # items looked at together
LARGEST = np.finfo(np.float32).max

Plausible = Int64[np.ndarray, "apart queries"]


def plausible(labels: Labels, apart: tuple[int, ...]) -> Plausible:
    """How many items match each query plausibly, for each number of labels that may differ."""
    found = np.zeros((len(apart), len(labels.of_queries)), np.int64)
    shared, queries, items = labels.shared, labels.of_queries, _sizes(labels)
    most = np.asarray(apart, np.int32)

    def work(first: int, last: int) -> None:
        _count(shared, queries, items, most, found, first, last)

    spread(len(shared), shared.shape[1], work)
    return found


def plausible_precision(
    labels: Labels, scores: Scores, priority: Int[np.ndarray, " items"], apart: tuple[int, ...]
) -> Float64[np.ndarray, "apart queries"]:
    """R-precision for each number of labels that may differ; NaN where nothing is plausible.

    The first R need no order: they are those above some score, found by counting the scores in
    narrow bins and sorting the one bin in which the first R end.
    """
    wanted = plausible(labels, apart)
    hits = np.zeros_like(wanted)
    bits, loading = bits_of(scores), loading_order(priority)
    shared, queries, items = labels.shared, labels.of_queries, _sizes(labels)
    most, places = np.asarray(apart, np.int32), priority.astype(np.uint32)
    rows = np.ascontiguousarray(scores)

    def work(first: int, last: int) -> None:
        given = rows, bits, places, loading, shared, queries, items, most, wanted, bounds
        _match(*given, hits, first, last)

    if scores.size:
        bounds = np.stack([rows.min(axis=1), rows.max(axis=1)], axis=1)
        spread(len(scores), scores.shape[1], work)
    shares = np.full(hits.shape, np.nan)
    return np.asarray(np.divide(hits, wanted, out=shares, where=wanted > 0))


@dataclass(frozen=True)
class PMRP:
    """`pmrp`, the mean over ζ, and `pmrp/ζ`; under another `name` for labels other than COCO's."""

    apart: tuple[int, ...] = APART
    name: str = "pmrp"

    needs: ClassVar[frozenset[str]] = frozenset({"labels"})

    def __post_init__(self) -> None:
        if not self.apart or min(self.apart) < 0:
            raise UsageError("apart: numbers of labels that may differ, none below 0")

    def __call__(self, block: Block) -> dict[str, Values]:
        """The mean over ζ, and each."""
        labels = block.labeled(self.name)
        found = plausible_precision(labels, block.scores, block.priority, self.apart)
        each = {f"{self.name}/{most}": found[i] for i, most in enumerate(self.apart)}
        return {self.name: _mean(found)} | each


def _mean(found: Float64[np.ndarray, "apart queries"]) -> Values:
    """The mean over ζ, of those where something is plausible."""
    there = (~np.isnan(found)).sum(axis=0)
    return np.asarray(np.nansum(found, axis=0) / np.where(there > 0, there, np.nan))


def _sizes(labels: Labels) -> Int32[np.ndarray, " items"]:
    """How many labels each item has; so many where it has none that nothing is near it."""
    return np.where(labels.of_items > 0, labels.of_items, FAR).astype(np.int32)


@compiled
def _count(
    shared: np.ndarray,
    queries: np.ndarray,
    items: np.ndarray,
    apart: np.ndarray,
    found: np.ndarray,
    first: int,
    last: int,
) -> None:
    for query in range(first, last):
        own, row = np.int32(queries[query]), shared[query]
        for k in range(len(apart)):
            count = np.int32(0)
            for item in range(len(items)):
                count += np.int32(own + items[item] - np.int32(2) * row[item] <= apart[k])
            found[k, query] = count if own > 0 else 0


@compiled
def _match(
    scores: np.ndarray,
    bits: np.ndarray,
    places: np.ndarray,
    loading: np.ndarray,
    shared: np.ndarray,
    queries: np.ndarray,
    items: np.ndarray,
    apart: np.ndarray,
    wanted: np.ndarray,
    bounds: np.ndarray,
    hits: np.ndarray,
    first: int,
    last: int,
) -> None:
    bins, counts = np.empty(len(items), np.int32), np.empty(BINS + 1, np.int32)
    near = np.empty(len(items), np.uint64)
    for query in range(first, last):
        own, row = np.int32(queries[query]), shared[query]
        if wanted[:, query].max() > 0:
            _fill(scores[query], items, bounds[query], bins, counts)
        for k in range(len(apart)):
            left, end = wanted[k, query], np.int32(0)
            if left == 0:
                continue
            while counts[end] < left:
                left -= counts[end]
                end += np.int32(1)
            count = np.int32(0)
            for item in range(len(items)):
                distance = own + items[item] - np.int32(2) * row[item]
                count += np.int32((distance <= apart[k]) & (bins[item] < end))
            size = _gather(bins, end, bits[query], places, near)
            for key in np.sort(near[:size])[:left]:
                item = loading[key & LOW]
                count += np.int32(own + items[item] - np.int32(2) * row[item] <= apart[k])
            hits[k, query] = count


@compiled
def _fill(
    scores: np.ndarray,
    items: np.ndarray,
    bounds: np.ndarray,
    bins: np.ndarray,
    counts: np.ndarray,
) -> None:
    """The bin of each item, the best in the first, and how many each holds; last, the unlabeled.

    Rounding never turns the order of two scores; halves of them have a difference that is finite.
    """
    half, last = np.float32(0.5), np.int32(BINS - 1)
    high = bounds[1] * half
    width = high - bounds[0] * half
    scale = min(np.float32(BINS - 1) / width, LARGEST) if width > 0 else np.float32(0)
    for item in range(len(items)):
        place = min(np.int32((high - scores[item] * half) * scale), last)
        bins[item] = place if items[item] < FAR else np.int32(BINS)
    counts[:] = 0
    for item in range(len(items)):
        counts[bins[item]] += np.int32(1)


@compiled
def _gather(
    bins: np.ndarray, end: np.int32, bits: np.ndarray, places: np.ndarray, near: np.ndarray
) -> int:
    """Score and priority of the items of a bin as one number each; most stretches have none."""
    size = 0
    for start in range(0, len(bins), STRETCH):
        some = bins[start : start + STRETCH]
        there = np.int32(0)
        for k in range(len(some)):
            there |= np.int32(some[k] == end)
        if there:
            for item in range(start, start + len(some)):
                if bins[item] == end:
                    key = np.uint64(descending(bits[item]))
                    near[size] = (key << HALF) | np.uint64(places[item])
                    size += 1
    return size

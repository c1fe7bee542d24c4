"""Rank lists: the items of each query best first, equal scores by one fixed priority.

A float's bits, with the sign turned, are ordered like the float: rows are sorted by their digits
(radix sort, three of 11 bits), which takes the same time whatever the scores are. The sort keeps
the order of equal keys, so loading the items in the order of their priority is the whole tie rule.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float32, Int, Int32, UInt32

from trope.compiled import compiled, spread
from trope.errors import DataError
from trope.runtime import generator

DIGIT = np.uint32(11)  # bits
DIGITS = 3
VALUES = 2**11
MASK = np.uint32(VALUES - 1)
SIGN, REST = np.uint32(0x80000000), np.uint32(0x7FFFFFFF)
INFINITY = np.uint32(0x7F800000)
LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
ONE = np.uint32(1)  # an index of unsigned numbers is never looked at for being negative

Scores: TypeAlias = Float32[np.ndarray, "queries items"]
Priority: TypeAlias = Int[np.ndarray, " items"]
Order: TypeAlias = Int32[np.ndarray, "queries items"]
Bits: TypeAlias = UInt32[np.ndarray, "queries items"]


def tie_priority(items: int, *purpose: str) -> Priority:
    """The place of each item among items of equal score: one shuffle of a gallery, for all runs.

    What is ordered for another `purpose` has another shuffle: equals must not agree by the order
    in which they are put.
    """
    return generator(0, "ties", *purpose).permutation(items)


def ordered(scores: Scores, priority: Priority) -> Order:
    """The items of each query, best first; of equal scores, that of the lower priority first."""
    bits, loading = bits_of(scores), loading_order(priority)
    order = np.empty(scores.shape, np.int32)
    spread(len(bits), bits.shape[1], lambda a, b: _sort_rows(bits, loading, order, a, b))
    return order


def top(scores: Scores, k: int, priority: Priority) -> Int32[np.ndarray, "queries k"]:
    """The first k of `ordered`, fewer if there are; all others are never sorted."""
    bits, loading = bits_of(scores), loading_order(priority)
    found = np.empty((len(scores), min(k, scores.shape[1])), np.int32)
    places = priority.astype(np.uint32)

    def work(first: int, last: int) -> None:
        _top_rows(bits, places, loading, found, first, last)

    if found.size:
        spread(len(bits), bits.shape[1], work)
    return found


def bits_of(scores: Scores) -> Bits:
    """The bits of scores, for the loops below; a score that is no number is refused."""
    bits = np.ascontiguousarray(scores, np.float32).view(np.uint32)
    strange = _largest(bits) > INFINITY
    if strange.any():
        row = int(strange.argmax())
        raise DataError(f"row {row} of the scores holds a value that is no number")
    return bits


def finite(scores: Scores) -> Bool[np.ndarray, " rows"]:
    """Whether all scores of a row are finite numbers, in one pass and without copies."""
    bits = np.ascontiguousarray(scores, np.float32).view(np.uint32)
    return np.asarray(_largest(bits) < INFINITY)


def _largest(bits: Bits) -> UInt32[np.ndarray, " rows"]:
    """The largest of each row whatever its sign; larger than infinity is what is no number."""
    found = np.zeros(len(bits), np.uint32)
    spread(len(bits), bits.shape[1], lambda a, b: _find_largest(bits, found, a, b))
    return found


def loading_order(priority: Priority) -> UInt32[np.ndarray, " items"]:
    """The items by ascending priority, which is a place for each: 0, 1, 2 ... in any order."""
    items = np.arange(len(priority), dtype=np.uint32)
    loading = np.full_like(items, len(items))
    if np.isin(priority, items).all():
        loading[priority] = items
    if (loading == len(items)).any():
        raise ValueError(f"a priority gives each of {len(items)} items a place of its own, from 0")
    return loading


@compiled
def sort_row(
    bits: np.ndarray, loading: np.ndarray, keys: np.ndarray, spare: np.ndarray, counts: np.ndarray
) -> np.ndarray:
    """One of `keys` and `spare`, which holds the items of a row in their order, in its low half."""
    _load(bits, loading, keys, counts)
    for digit in range(DIGITS):
        if _starts(counts[digit], len(keys)):
            _move(keys, spare, counts[digit], HALF + np.uint64(DIGIT) * np.uint64(digit))
            keys, spare = spare, keys
    return keys


@compiled
def _load(bits: np.ndarray, loading: np.ndarray, keys: np.ndarray, counts: np.ndarray) -> None:
    """Key and item in one number each, and how often each digit has each value."""
    counts[:] = 0
    for place in range(len(loading)):
        item = loading[place]
        key = descending(bits[item])
        keys[place] = (np.uint64(key) << HALF) | np.uint64(item)
        for digit in range(DIGITS):
            counts[digit, (key >> (DIGIT * np.uint32(digit))) & MASK] += ONE


@compiled
def descending(bits: np.uint32) -> np.uint32:
    """A number the larger, the smaller the float of these bits is; -0 and 0 are one."""
    if bits == SIGN:
        return REST
    return bits if bits & SIGN else np.uint32(bits ^ REST)


@compiled
def _starts(counts: np.ndarray, size: int) -> bool:
    """Turn counts into places where each value starts; False if there is one value alone."""
    total = np.uint32(0)
    for value in range(VALUES):
        count = counts[value]
        if count == size:
            return False
        counts[value] = total
        total += count
    return True


@compiled
def _move(source: np.ndarray, target: np.ndarray, starts: np.ndarray, shift: np.uint64) -> None:
    """Every key to the next free place of its digit's value."""
    for place in range(len(source)):
        key = source[place]
        value = np.uint32(key >> shift) & MASK
        start = starts[value]
        target[start] = key
        starts[value] = start + ONE


@compiled
def _sort_rows(
    bits: np.ndarray, loading: np.ndarray, order: np.ndarray, first: int, last: int
) -> None:
    items = len(loading)
    keys, spare = np.empty(items, np.uint64), np.empty(items, np.uint64)
    counts = np.empty((DIGITS, VALUES), np.uint32)
    for row in range(first, last):
        done = sort_row(bits[row], loading, keys, spare, counts)
        for place in range(items):
            order[row, place] = np.int32(done[place] & LOW)


@compiled
def _find_largest(bits: np.ndarray, found: np.ndarray, first: int, last: int) -> None:
    for row in range(first, last):
        largest = np.uint32(0)
        for value in bits[row]:
            largest = max(largest, value & REST)
        found[row] = largest


@compiled
def _top_rows(
    bits: np.ndarray,
    places: np.ndarray,
    loading: np.ndarray,
    found: np.ndarray,
    first: int,
    last: int,
) -> None:
    keys = np.empty(len(loading), np.uint32)
    near = np.empty(len(loading), np.uint64)
    counts = np.empty(VALUES, np.uint32)
    for row in range(first, last):
        for item in range(len(loading)):
            keys[item] = descending(bits[row, item])
        bound = _bound(keys, found.shape[1], counts)
        size = 0
        for item in range(len(loading)):
            near[size] = (np.uint64(keys[item]) << HALF) | np.uint64(places[item])
            size += keys[item] <= bound
        best = np.sort(near[:size])
        for place in range(found.shape[1]):
            found[row, place] = np.int32(loading[best[place] & LOW])


@compiled
def _bound(keys: np.ndarray, k: int, counts: np.ndarray) -> np.uint32:
    """The k-th smallest key, found digit by digit from the highest."""
    bound, known, wanted = np.uint32(0), np.uint32(0), np.uint32(k)
    for digit in range(DIGITS - 1, -1, -1):
        shift = DIGIT * np.uint32(digit)
        counts[:] = 0
        for key in keys:
            if key & known == bound:
                counts[(key >> shift) & MASK] += ONE
        value = 0
        while counts[value] < wanted:
            wanted -= counts[value]
            value += 1
        bound |= np.uint32(value) << shift
        known |= MASK << shift
    return bound

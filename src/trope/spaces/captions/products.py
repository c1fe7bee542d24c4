"""Products of sparse rows with others, in one compiled pass: a mini-batch has little time.

The columns of some captions are put into a table of their own, by hash; each column has its
captions side by side. A row of an image then looks up its columns and adds what it meets. What is
not in the captions costs a look and no more, however large the vocabulary.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from trope.compiled import compiled
from trope.spaces.captions.postings import Rows

Csr = tuple[np.ndarray, np.ndarray, np.ndarray]  # where rows begin, columns, values
# The table (columns, and which of those found each is), where a column begins, texts, values.
Columns = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]

EMPTY = -1
SPREAD = np.uint64(0x9E3779B97F4A7C15)  # of the golden ratio: neighbors in number lie apart


def csr(matrix: sparse.csr_array) -> Csr:
    """The parts of a matrix, in the types that code is compiled for."""
    starts, columns = (np.asarray(part, np.int64) for part in (matrix.indptr, matrix.indices))
    return starts, columns, np.asarray(matrix.data, np.float32)


@compiled
def by_column(captions: Csr, chosen: Rows) -> Columns:
    """The entries of chosen captions by column, each column's in the order of the captions."""
    starts, columns, values = captions
    total = 0
    for text in chosen:
        total += starts[text + 1] - starts[text]
    bits = 1
    while (1 << bits) < 2 * total:
        bits += 1
    keys, slots = np.full(1 << bits, EMPTY), np.empty(1 << bits, np.int64)
    counts, slot_of, found = np.zeros(total + 1, np.int64), np.empty(total, np.int64), 0
    entry = 0
    for text in chosen:
        for place in range(starts[text], starts[text + 1]):
            spot = _spot(columns[place], keys)
            if keys[spot] == EMPTY:
                keys[spot], slots[spot] = columns[place], found
                found += 1
            slot_of[entry] = slots[spot]
            counts[slots[spot] + 1] += 1
            entry += 1
    first = np.cumsum(counts[: found + 1])
    ends, texts, kept = first.copy(), np.empty(total, np.int64), np.empty(total, np.float32)
    entry = 0
    for number in range(len(chosen)):
        for place in range(starts[chosen[number]], starts[chosen[number] + 1]):
            spot = ends[slot_of[entry]]
            texts[spot], kept[spot] = number, values[place]
            ends[slot_of[entry]] += 1
            entry += 1
    return keys, slots, first, texts, kept


@compiled
def products(images: Csr, rows: Rows, captions: Columns, out: np.ndarray) -> None:
    """Each row's entries times the captions they meet, summed in double precision."""
    starts, columns, values = images
    keys, slots, first, texts, kept = captions
    sums = np.empty(out.shape[1])
    for i in range(out.shape[0]):
        sums.fill(0)
        for entry in range(starts[rows[i]], starts[rows[i] + 1]):
            spot = _spot(columns[entry], keys)
            if keys[spot] == EMPTY:
                continue
            weight, slot = np.float64(values[entry]), slots[spot]
            for place in range(first[slot], first[slot + 1]):
                sums[texts[place]] += weight * kept[place]
        for j in range(out.shape[1]):  # assigning a whole row takes seconds to compile
            out[i, j] = sums[j]


@compiled
def _spot(column: int, keys: np.ndarray) -> int:
    """Where a column is in the table, or where it would be."""
    mask = len(keys) - 1
    spot = np.int64((np.uint64(column) * SPREAD) >> np.uint64(32)) & mask
    while keys[spot] != EMPTY and keys[spot] != column:
        spot = (spot + 1) & mask
    return int(spot)

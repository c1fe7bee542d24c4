"""Sparse n-gram counts of whole corpora; equal n-grams have equal numbers, exactly.

An n-gram is the pair (number of its first n-1 words, number of its last word), packed into one
64-bit key: no hash that could collide, no tuple of strings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Int
from scipy import sparse

from trope.spaces.captions.corpus import Corpus

LONGEST = 4
Numbers = Int[np.ndarray, " _"]


@dataclass(frozen=True)
class Numbering:
    """N-grams that have a number already; a corpus numbered by it gets further numbers for more."""

    words: tuple[str, ...] = field(default=(), repr=False)
    keys: tuple[Numbers, ...] = field(default=(), repr=False)

    def size(self, order: int) -> int:
        """How many n-grams of `order` + 1 words are known."""
        return len(self.keys[order - 1]) if order else len(self.words)


@dataclass(frozen=True, eq=False)
class Counts:
    """How often each caption holds each n-gram; the columns of order n stand together.

    `bounds[n]` to `bounds[n + 1]` are the columns of n-grams with n + 1 words.
    """

    matrix: sparse.csr_array = field(repr=False)
    bounds: Numbers
    numbering: Numbering

    def orders(self) -> Int[np.ndarray, " entries"]:
        """Which order (0 for single words) each stored entry has."""
        return order_of(self.matrix.indices, self.bounds)

    def rows(self) -> Int[np.ndarray, " entries"]:
        """Which caption each stored entry belongs to."""
        return np.repeat(np.arange(self.matrix.shape[0]), np.diff(self.matrix.indptr))

    def per_order(self, values: np.ndarray) -> np.ndarray:
        """Sums of one value an entry, over each caption and order: captions by orders."""
        shape = (self.matrix.shape[0], len(self.bounds) - 1)
        cells = self.rows() * shape[1] + self.orders()
        return np.bincount(cells, values, minlength=shape[0] * shape[1]).reshape(shape)


def order_of(columns: Numbers, bounds: Numbers) -> Numbers:
    """Which order (0 for single words) columns belong to."""
    return np.searchsorted(bounds, columns, side="right") - 1


def count(corpus: Corpus, longest: int = LONGEST, known: Numbering | None = None) -> Counts:
    """Count the n-grams of every caption; those of `known` keep their numbers."""
    known = known or Numbering()
    words, numbers = _number_words(corpus, known)
    caption = np.repeat(np.arange(corpus.caption_count), corpus.lengths)
    left = corpus.starts[caption + 1] - np.arange(len(numbers))
    keys: list[Numbers] = []
    places, found = [np.arange(len(numbers))], [numbers]
    for order in range(1, longest):
        here = np.flatnonzero(left > order)
        pairs = (found[-1][np.searchsorted(places[-1], here)] << 32) | numbers[here + order]
        grown, ids = _number_keys(pairs, known.keys[order - 1] if known.keys else None)
        keys, places, found = [*keys, grown], [*places, here], [*found, ids]
    numbering = Numbering(words, tuple(keys))
    sizes = [numbering.size(order) for order in range(longest)]
    bounds = np.concatenate([[0], np.cumsum(sizes)])
    rows = [caption[place] for place in places]
    return Counts(_matrix(rows, found, bounds, corpus.caption_count), bounds, numbering)


def _number_words(corpus: Corpus, known: Numbering) -> tuple[tuple[str, ...], Numbers]:
    """All words there are, the known ones first, and the numbers of the corpus's tokens."""
    numbers = {word: number for number, word in enumerate(known.words)}
    to = np.array([numbers.setdefault(word, len(numbers)) for word in corpus.words], np.int64)
    return tuple(numbers), to[corpus.tokens]


def _number_keys(pairs: Numbers, known: Numbers | None) -> tuple[Numbers, Numbers]:
    """All keys there are, the known ones first, and the number of each pair."""
    new, ids = np.unique(pairs, return_inverse=True)
    if known is None or not len(known):
        return new, ids
    order = np.argsort(known)
    spot = np.minimum(np.searchsorted(known, new, sorter=order), len(known) - 1)
    old = known[order[spot]] == new
    numbers = np.where(old, order[spot], len(known) + np.cumsum(~old) - 1)
    return np.concatenate([known, new[~old]]), numbers[ids]


def _matrix(
    rows: Sequence[Numbers], ids: Sequence[Numbers], bounds: Numbers, captions: int
) -> sparse.csr_array:
    columns = np.concatenate([i + first for i, first in zip(ids, bounds[:-1], strict=True)])
    ones = np.ones(len(columns), np.float32)
    found = sparse.csr_array(
        (ones, (np.concatenate(rows), columns)), shape=(captions, int(bounds[-1]))
    )
    found.sum_duplicates()
    return found

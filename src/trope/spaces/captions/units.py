"""What texts hold, such as counted words: the entries of sparse rows, each with its values.

Every measure is the same join: the entries of some captions by column (`held`), and those of other
texts that meet one (`met`), both with the values that the measure multiplies or compares.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Shaped
from scipy import sparse

from trope.compiled import compiled
from trope.spaces.captions.ngrams import Counts
from trope.spaces.captions.postings import Postings, Rows, numbered

# Where a text's entries begin, which postings they meet (or texts they are in), then their values.
Entries = tuple[np.ndarray, ...]


@dataclass(frozen=True, eq=False)
class Units:
    """The entries of a sparse matrix by their numbers, and one or more values of each."""

    matrix: sparse.csr_array = field(repr=False)
    values: tuple[Shaped[np.ndarray, " entries"], ...] = field(repr=False)

    @classmethod
    def of(cls, matrix: sparse.csr_array, *more: np.ndarray) -> Units:
        """The entries of a matrix with the values it has, and more if given."""
        return cls(numbered(matrix), (matrix.data, *more))

    @classmethod
    def of_order(cls, counts: Counts, order: int) -> Units:
        """The n-grams of one order, under their own numbers."""
        return cls.of(counts.matrix[:, counts.bounds[order] : counts.bounds[order + 1]])

    def once(self) -> Units:
        """The same as sets: each unit counts once, however often a text has it."""
        return Units(self.matrix, (np.ones_like(self.values[0]),))

    def postings(self, captions: Rows) -> Postings:
        """The entries of some captions by column."""
        return Postings.of(self.matrix[captions])

    def held(self, postings: Postings) -> Entries:
        """The captions' side of what is shared."""
        values = (value[postings.entries] for value in self.values)
        return postings.starts, postings.rows, *values

    def met(self, postings: Postings, texts: Rows) -> Entries:
        """The side of the texts that captions are compared with."""
        joined = postings.join(self.matrix[texts])
        return joined.starts, joined.slots, *(value[joined.entries] for value in self.values)


def part(entries: Entries, first: int, last: int) -> Entries:
    """The entries of consecutive texts alone."""
    return entries[0][first : last + 1], *entries[1:]


@compiled
def shared(reference: Entries, captions: Entries, r: int, found: np.ndarray) -> None:
    """How many units a reference shares with each caption, each as often as both have it."""
    starts, slots, counts = reference
    posting_starts, posting_rows, caption_counts = captions
    found.fill(0)
    for entry in range(starts[r], starts[r + 1]):
        slot, most = slots[entry], counts[entry]
        for place in range(posting_starts[slot], posting_starts[slot + 1]):
            found[posting_rows[place]] += min(most, caption_counts[place])

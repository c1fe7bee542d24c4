"""Words, or word pairs, of texts: counted, or as sets, and how many of them two texts share."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float32
from scipy import sparse

from trope.spaces.captions.compiled import compiled
from trope.spaces.captions.ngrams import Counts
from trope.spaces.captions.postings import Postings, Rows, numbered

# Where a text's entries begin, which postings they meet (or texts they are in), how often.
Entries = tuple[np.ndarray, np.ndarray, np.ndarray]


@dataclass(frozen=True, eq=False)
class Units:
    """Entries of sparse counts, and the counts themselves."""

    matrix: sparse.csr_array = field(repr=False)
    counts: Float32[np.ndarray, " entries"] = field(repr=False)

    @classmethod
    def of(cls, counts: Counts, order: int) -> Units:
        """The n-grams of one order, under their own numbers."""
        columns = counts.matrix[:, counts.bounds[order] : counts.bounds[order + 1]]
        return cls(numbered(columns), columns.data)

    def once(self) -> Units:
        """The same as sets: each unit counts once, however often a text has it."""
        return Units(self.matrix, np.ones_like(self.counts))

    def held(self, postings: Postings) -> Entries:
        """The captions' side of what is shared."""
        return postings.starts, postings.rows, self.counts[postings.entries]

    def met(self, postings: Postings, texts: Rows) -> Entries:
        """The side of the texts that captions are compared with."""
        joined = postings.join(self.matrix[texts])
        return joined.starts, joined.slots, self.counts[joined.entries]


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

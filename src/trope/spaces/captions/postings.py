"""For each n-gram of a set of captions, the captions that hold it: what a row is multiplied with.

Only n-grams that occur have an entry, so a mini-batch costs what its own words cost, however large
the vocabulary.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Int, UInt32
from scipy import sparse

Rows = Int[np.ndarray, " _"]


def numbered(matrix: sparse.csr_array) -> sparse.csr_array:
    """The same matrix holding, for each stored entry, its number: selections can be traced back."""
    entries = np.arange(matrix.nnz, dtype=np.int64)
    return sparse.csr_array((entries, matrix.indices, matrix.indptr), shape=matrix.shape)


@dataclass(frozen=True, eq=False)
class Joined:
    """Entries of some rows that meet postings: row `i` has those from `starts[i]` to the next.

    `slots` says which postings an entry meets, `entries` its number.
    """

    starts: Int[np.ndarray, " rows_and_end"]
    slots: Int[np.ndarray, " kept"]
    entries: Int[np.ndarray, " kept"]


@dataclass(frozen=True, eq=False)
class Postings:
    """Entries by column: column `columns[s]` has those from `starts[s]` to `starts[s + 1]`.

    `rows` says which of the `count` captions an entry belongs to, `entries` its number.
    """

    columns: Int[np.ndarray, " slots"] = field(repr=False)
    starts: Int[np.ndarray, " slots_and_end"] = field(repr=False)
    rows: UInt32[np.ndarray, " entries"] = field(repr=False)
    entries: Int[np.ndarray, " entries"] = field(repr=False)
    count: int

    @classmethod
    def of(cls, captions: sparse.csr_array) -> Postings:
        """The numbered entries by column, each column's in the order of the captions."""
        order = np.argsort(captions.indices, kind="stable")
        columns, starts = np.unique(captions.indices[order], return_index=True)
        rows = np.repeat(np.arange(captions.shape[0], dtype=np.uint32), np.diff(captions.indptr))
        ends = np.append(starts, len(order)).astype(np.int64)
        return cls(
            columns.astype(np.int64), ends, rows[order], captions.data[order], captions.shape[0]
        )

    def join(self, rows: sparse.csr_array) -> Joined:
        """The numbered entries of `rows` that meet one here; what cannot match is left out."""
        if not len(self.columns):
            none = np.zeros(0, np.int64)
            return Joined(np.zeros(rows.shape[0] + 1, np.int64), none, none)
        spot = np.minimum(np.searchsorted(self.columns, rows.indices), len(self.columns) - 1)
        met = self.columns[spot] == rows.indices
        before = np.concatenate([[0], np.cumsum(met)]).astype(np.int64)
        return Joined(before[rows.indptr], spot[met].astype(np.int64), rows.data[met])

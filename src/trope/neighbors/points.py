"""Different vectors and the rows that hold each: a search meets every vector once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Int

from trope.neighbors.rows import Rows

Some: TypeAlias = Int[np.ndarray, " some"]


@dataclass(frozen=True)
class Points:
    """Point p is the vector of the rows `members[starts[p]:][:sizes[p]]`, in their order."""

    members: Int[np.ndarray, " rows"]
    starts: Int[np.ndarray, " points"]
    sizes: Int[np.ndarray, " points"]

    @classmethod
    def of(cls, rows: Rows) -> Points:
        """The different vectors among rows, in the order of their first rows."""
        sizes = np.bincount(rows.copies)
        return cls(np.argsort(rows.copies, kind="stable"), np.cumsum(sizes) - sizes, sizes)

    def __len__(self) -> int:
        return len(self.sizes)

    @property
    def first(self) -> Int[np.ndarray, " points"]:
        """One row of each point."""
        return np.asarray(self.members[self.starts])

    def rows(self, points: Some, counts: Some) -> Int[np.ndarray, " found"]:
        """The first rows of some points, so many of each, one point after the other."""
        within = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        return np.asarray(self.members[np.repeat(self.starts[points], counts) + within])

"""How alike pictures look: cosines of frozen features, and how many look more alike.

A cosine alone says little: some pictures are like many others. The rank of a picture among all
others, seen from one of them, says how special its likeness is, and has a known chance level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float32, Int

from trope.runtime import progress_bar

BLOCK = 2**24  # similarities at a time: 64 MB

Values: TypeAlias = Float32[np.ndarray, "rows d"]
Rows: TypeAlias = Int[np.ndarray, " queries"]
Found: TypeAlias = Int[np.ndarray, "queries k"]


@dataclass(frozen=True, eq=False)
class Looks:
    """Pictures as vectors of length one; only those of `usable` rows are compared."""

    unit: Values
    usable: Bool[np.ndarray, " rows"]

    @classmethod
    def of(cls, values: Values, usable: Bool[np.ndarray, " rows"]) -> Looks:
        """From features of any length."""
        lengths = np.sqrt(np.einsum("nd,nd->n", values, values, dtype=np.float64))
        scale = 1 / np.where(lengths > 0, lengths, 1)
        return cls((values * scale[:, None]).astype(np.float32), usable)

    @property
    def others(self) -> int:
        """How many pictures a picture is compared with."""
        return max(0, int(self.usable.sum()) - 1)

    def similarities(self, rows: Rows) -> Float32[np.ndarray, "queries rows"]:
        """Cosines with all rows; minus infinity with itself and with rows that do not count."""
        cosines: Float32[np.ndarray, "queries rows"] = self.unit[rows] @ self.unit.T
        cosines[:, ~self.usable] = -np.inf
        cosines[np.arange(len(rows)), rows] = -np.inf
        return cosines

    def compare(
        self, rows: Rows, ids: Found
    ) -> tuple[Float32[np.ndarray, "queries k"], Int[np.ndarray, "queries k"]]:
        """Cosines with some others each, and their ranks: 1 for the one that looks most alike.

        What looks equally alike has the same rank; -1 among the ids has none: nan and 0.
        """
        cosines, ranks = np.full(ids.shape, np.nan, np.float32), np.zeros(ids.shape, np.int64)
        step = max(1, BLOCK // max(1, len(self.unit)))
        with progress_bar("pictures that look alike", len(rows)) as bar:
            for start in range(0, len(rows), step):
                part = slice(start, start + step)
                all_ = self.similarities(rows[part])
                there = ids[part] >= 0
                mine = np.take_along_axis(all_, np.where(there, ids[part], 0), axis=1)
                for column in range(ids.shape[1]):
                    more = (all_ > mine[:, column, None]).sum(axis=1)
                    ranks[part, column] = np.where(there[:, column], more + 1, 0)
                cosines[part] = np.where(there, mine, np.nan)
                bar.advance(bar.task_ids[0], len(all_))
        return cosines, ranks

    def most_alike(self, row: int, k: int) -> tuple[list[int], list[float]]:
        """The pictures that look most like one; equals in the order of the rows."""
        cosines = self.similarities(np.array([row]))[0]
        best = np.argsort(-cosines, kind="stable")[: min(k, self.others)]
        return best.tolist(), cosines[best].tolist()

    def same(self, one: int, other: int) -> bool:
        """Whether two rows have the same picture."""
        return bool((self.unit[one] == self.unit[other]).all())

"""How alike pictures look: cosines of frozen features, and how many look more alike.

A cosine alone says little: some pictures are like many others. The rank of a picture among all
others, seen from one of them, says how special its likeness is, and has a known chance level.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int

from trope.neighbors.rows import copies, scale
from trope.runtime import progress_bar

BLOCK = 2**24  # similarities at a time: 64 MB

Values: TypeAlias = Float32[np.ndarray, "rows d"]
Rows: TypeAlias = Int[np.ndarray, " queries"]
Found: TypeAlias = Int[np.ndarray, "queries k"]
Cosines: TypeAlias = Float32[np.ndarray, "queries rows"]


@dataclass(frozen=True, eq=False)
class Seen:
    """How alike some rows and some others of each look; nan and rank 0 where there is no other.

    `chance` is the share of all others that look alike: how often one drawn at random would.
    """

    cosines: Float32[np.ndarray, "queries k"]
    ranks: Found
    alike: Bool[np.ndarray, "queries k"]
    chance: Float64[np.ndarray, " queries"]


@dataclass(frozen=True, eq=False)
class Looks:
    """Different pictures as vectors of length one, and which of them each row has.

    Only those of `usable` rows are compared. Rows with the same picture look exactly equally alike.
    """

    unit: Float32[np.ndarray, "pictures d"]
    picture: Int[np.ndarray, " rows"]
    usable: Bool[np.ndarray, " rows"]

    @classmethod
    def of(cls, values: Values, usable: Bool[np.ndarray, " rows"]) -> Looks:
        """From features of any length."""
        picture = copies(values)
        unit = values[np.unique(picture, return_index=True)[1]]
        scale(unit)
        return cls(unit, picture, usable)

    @property
    def others(self) -> int:
        """How many pictures a picture is compared with."""
        return max(0, int(self.usable.sum()) - 1)

    def similarities(self, rows: Rows) -> Cosines:
        """Cosines with all rows; minus infinity with itself and with rows that do not count."""
        cosines = np.take(self.unit[self.picture[rows]] @ self.unit.T, self.picture, axis=1)
        cosines[:, ~self.usable] = -np.inf
        cosines[np.arange(len(rows)), rows] = -np.inf
        return cosines

    def compare(self, rows: Rows, ids: Found, nearest: int) -> Seen:
        """Cosines with some others each, and their ranks: 1 for the one that looks most alike.

        What looks equally alike has the same rank. The first `nearest` ranks count as alike.
        """
        step = max(1, BLOCK // max(1, len(self.picture)))
        parts = []
        with progress_bar("pictures that look alike", len(rows)) as bar:
            for start in range(0, len(rows), step):
                part = slice(start, start + step)
                parts.append(_seen(self.similarities(rows[part]), ids[part], nearest, self.others))
                bar.advance(bar.task_ids[0], len(rows[part]))
        names = ("cosines", "ranks", "alike", "chance")
        return Seen(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def most_alike(self, row: int, k: int) -> tuple[list[int], list[float]]:
        """The pictures that look most like one; equals in the order of the rows."""
        cosines = self.similarities(np.array([row]))[0]
        best = np.argsort(-cosines, kind="stable")[: min(k, self.others)]
        return best.tolist(), cosines[best].tolist()

    def same(self, one: int, other: int) -> bool:
        """Whether two rows have the same picture."""
        return bool(self.picture[one] == self.picture[other])


def _seen(cosines: Cosines, ids: Found, nearest: int, others: int) -> Seen:
    """Some rows' cosines with some of all, and the share of all that is as alike as the nearest."""
    there = ids >= 0
    mine = np.take_along_axis(cosines, np.where(there, ids, 0), axis=1)
    ranks = np.zeros(ids.shape, np.int64)
    for column in range(ids.shape[1]):
        ranks[:, column] = 1 + (cosines > mine[:, column, None]).sum(axis=1)
    ranks[~there] = 0
    last = np.partition(cosines, -nearest, axis=1)[:, -nearest, None]
    chance = (cosines >= last).sum(axis=1) / others
    return Seen(np.where(there, mine, np.nan), ranks, there & (ranks <= nearest), chance)

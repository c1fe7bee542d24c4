"""From numbers of many pairs to the records of a few."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trope.data.pairs import Pairs
from trope.explain.cards import about
from trope.explain.findings import Explained, Lookalike, Neighbor
from trope.explain.looks import Looks, Seen
from trope.explain.meaning import Near
from trope.spaces import Vectors

LOOKALIKES = 6  # pictures that look most alike, shown for each pair


@dataclass(frozen=True, eq=False)
class Shown:
    """What was found about many pairs: neighbors, and how alike they look."""

    pairs: Pairs
    texts: Vectors
    looks: Looks
    near: Near
    seen: Seen

    def explained(self, row: int, why: str) -> Explained:
        """One pair with its neighbors by meaning and by look."""
        place = int(np.searchsorted(self.near.rows, row))
        pair = self.pairs[row]
        spots = np.flatnonzero(self.near.ids[place] >= 0)
        return Explained(
            row=row,
            id=pair.id,
            why=why,
            texts=pair.texts,
            about=about(pair),
            neighbors=tuple(self._neighbor(row, place, int(spot)) for spot in spots),
            lookalikes=self._lookalikes(row, set(self.near.ids[place].tolist())),
        )

    def _neighbor(self, row: int, place: int, spot: int) -> Neighbor:
        other, text = int(self.near.ids[place, spot]), int(self.near.texts[place, spot])
        first = int(np.searchsorted(self.texts.owners, other))
        pair = self.pairs[other]
        return Neighbor(
            row=other,
            id=pair.id,
            text=pair.texts[text - first],
            distance=float(self.near.distances[place, spot]),
            similarity=float(self.seen.cosines[place, spot]),
            look_rank=int(self.seen.ranks[place, spot]),
            looks_alike=bool(self.seen.alike[place, spot]),
            same_picture=self.looks.same(row, other),
        )

    def _lookalikes(self, row: int, meant: set[int]) -> tuple[Lookalike, ...]:
        looks = self.looks
        found = zip(*looks.most_alike(row, LOOKALIKES), strict=True)
        return tuple(
            Lookalike(
                row=other,
                id=self.pairs[other].id,
                text=self.pairs[other].texts[0],
                similarity=cosine,
                means_alike=other in meant,
                same_picture=looks.same(row, other),
            )
            for other, cosine in found
        )

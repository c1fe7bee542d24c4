"""Items in the order they were found in, with all that they were ranked by."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float32, Float64

from trope.search.hits import Hit


@dataclass(frozen=True, eq=False)
class Ranked:
    """Ids, best first, with their scores; `scores` of the first may be others than the cosines.

    `chances` are match probabilities of the first, where there are any.
    """

    ids: list[str]
    scores: Float32[np.ndarray, " items"]
    cosines: Float32[np.ndarray, " first"] | None = None
    chances: Float64[np.ndarray, " _first"] | None = None

    def anew(
        self,
        better: Float32[np.ndarray, " first"],
        chances: Float64[np.ndarray, " first"] | None = None,
    ) -> Ranked:
        """The first ones in the order of other scores, equal ones as they were; the rest after."""
        order, count = np.argsort(-better, kind="stable"), len(better)
        return Ranked(
            [*(self.ids[i] for i in order), *self.ids[count:]],
            np.concatenate([better[order], self.scores[count:]]),
            self.scores[order],
            None if chances is None else chances[order],
        )

    def part(self, first: int, last: int) -> Ranked:
        """Those of a page."""
        some = slice(first, last)
        cosines = None if self.cosines is None else self.cosines[some]
        chances = None if self.chances is None else self.chances[some]
        return Ranked(self.ids[some], self.scores[some], cosines, chances)

    def told(self, hits: list[Hit]) -> list[Hit]:
        """Hits in the same order, with what else is known of them."""
        found = list(hits)
        for i, cosine in enumerate([] if self.cosines is None else self.cosines):
            found[i] = replace(found[i], cosine=float(cosine))
        for i, chance in enumerate([] if self.chances is None else self.chances):
            found[i] = replace(found[i], match_probability=float(chance))
        return found

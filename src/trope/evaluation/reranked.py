"""Scores as a search finds them: of some candidates by the model's scorer, of the rest below.

An index gives each query the items nearest by their points; the scorer ranks these. All others
follow in the order of their cosines, so that every item has a rank. Against the scores of all pairs
this tells what is lost by the candidates.
"""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float32, Int

from trope.encoders.reranking import candidates, rerank
from trope.encoders.scorers.comparing import Comparing
from trope.evaluation.gallery import Side
from trope.evaluation.scoring import Block, Rows, Similarities, some
from trope.similarity import similarity
from trope.views import Encoded

BELOW = 3.0  # cosines lowered by this are below -1


class Reranked(Similarities):
    """As `Similarities`, but for `most` candidates of a query; each direction has its own."""

    def __init__(self, image: Encoded, text: Encoded, scorer: Comparing, most: int) -> None:
        super().__init__(image, text, scorer)
        self.most, self.kept = most, None

    @torch.no_grad()
    def _write(self, side: Side, rows: Rows, out: Block) -> None:
        """Candidates by the scorer, all others by their cosines."""
        both = (self.image, self.text) if side == "image" else (self.text, self.image)
        queries, items = some(both[0], rows), both[1]
        out[:] = similarity(queries.points_only(), items.points_only()).float().cpu().numpy()
        found = rerank(self.scorer, queries, items, candidates(queries, items, self.most), side)
        places: Int[np.ndarray, "rows k"] = found.items.cpu().numpy()
        scores: Float32[np.ndarray, "rows k"] = found.scores.float().cpu().numpy()
        out += scores.min(axis=1, keepdims=True, initial=0) - BELOW
        np.put_along_axis(out, places, scores, axis=1)

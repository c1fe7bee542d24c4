"""Candidates as the model itself compares images with texts, where it has a scorer.

A scorer compares an image with a text. So it ranks what a query of texts finds among pictures, and
one of pictures among texts; all else stays in the order of the cosines.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float32, Float64
from torch import Tensor

from trope.encoders.reranking import scores
from trope.encoders.scorers.comparing import Comparing
from trope.index.compared import encoded_from
from trope.index.items import Items, Modality
from trope.matching import spread
from trope.search.queries import Asked, Query
from trope.views import Encoded


@dataclass(frozen=True, eq=False)
class Rescoring:
    """The scorer of a model, the side that a query is of, and whether scores tell probabilities."""

    scorer: Comparing
    side: Modality
    likely: bool = True

    def __call__(self, asked: Asked, items: Items) -> Float32[np.ndarray, " items"]:
        """Scores with the query; of several, averaged, less those of what is subtracted."""
        assert items.details is not None
        others = encoded_from(items.details, items.vectors[:, 0])
        found = self._mean(asked.near, others)
        if asked.far:
            found = found - self._mean(asked.far, others)
        return np.asarray(found.float().cpu().numpy())

    def probabilities(
        self, asked: Asked, scored: Float32[np.ndarray, " items"]
    ) -> Float64[np.ndarray, " items"] | None:
        """How likely the query matches each item; None where the model or the query has no such."""
        if not (self.likely and asked.single):
            return None
        found = self.scorer.probability(torch.from_numpy(scored).double())
        return None if found is None else np.asarray(found.detach().numpy())

    def _mean(self, queries: tuple[Encoded, ...], items: Encoded) -> Tensor:
        each = [
            scores(self.scorer, part.take(torch.tensor([row])), items, self.side)
            for part in queries
            for row in range(len(part.mean))
        ]
        return torch.stack(each).mean(dim=0)


def why_not(name: str, asked: Query, find: str, hubs: str, details: str) -> str | None:
    """The reason for which a scorer of this name does not rank what is found, if there is one."""
    if not details:
        return f"the index keeps vectors alone: ranked by their cosine, not by scorer '{name}'"
    if hubs != "none":
        return f"hubs are taken off cosines: not ranked by scorer '{name}'"
    if asked.mixed or find in ("both", asked.modality):
        return f"scorer '{name}' compares texts with images: all else is ranked by the cosine"
    return None


def spread_of(asked: Asked) -> float | None:
    """How far a query that is a distribution reaches; None of others, and of several together."""
    if not asked.single or asked.whole.log_sigma is None:
        return None
    return float(spread(asked.whole)[0])

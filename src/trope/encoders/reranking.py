"""Retrieval in two steps: candidates by cosine, as an index gives them, ranked by the scorer.

A scorer compares a query with each item by all their parts, which no index does. The points of the
items, which for SGR and SAF are the global vectors, lie in an index; what it finds is scored. With
all items as candidates the order is that of the scorer alone.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor

from trope.encoders.model import compare
from trope.encoders.scorers.comparing import Comparing
from trope.similarity import similarity
from trope.views import Encoded


class Ranked(NamedTuple):
    """Items by number, best first, and their scores, for each query."""

    items: Int[Tensor, "queries k"]
    scores: Float[Tensor, "queries k"]


def candidates(queries: Encoded, items: Encoded, k: int) -> Int[Tensor, "queries k"]:
    """The k items nearest to each query by their points, as an exact index would find them."""
    found = similarity(queries.points_only(), items.points_only())
    return found.topk(min(k, found.shape[1]), dim=1).indices


def rerank(
    scorer: Comparing | None,
    queries: Encoded,
    items: Encoded,
    found: Int[Tensor, "queries k"],
    side: Literal["image", "text"],
) -> Ranked:
    """The candidates of each query in the order of the scorer; queries are of the named `side`.

    Equal scores keep the order that the candidates came in.
    """
    found_scores = [
        scores(scorer, queries.take(row[None]), items.take(few), side)
        for row, few in zip(torch.arange(len(found)), found, strict=True)
    ]
    nothing = queries.mean.new_empty(found.shape)
    scored = torch.stack(found_scores) if found_scores else nothing
    order = scored.argsort(dim=1, descending=True, stable=True)
    return Ranked(found.gather(1, order), scored.gather(1, order))


def scores(
    scorer: Comparing | None, query: Encoded, items: Encoded, side: Literal["image", "text"]
) -> Float[Tensor, " k"]:
    """One query, of the named side, with items of the other."""
    if side == "image":
        return compare(scorer, query, items)[0]
    return compare(scorer, items, query)[:, 0]

"""Why a hit was found: which senses matched, and what like it the model has learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float32

from trope.index import Engine
from trope.index.candidates import best_of
from trope.search.hits import Hit, Neighbor, plain_lines
from trope.search.ranking import LEARNED_ONLY

NEIGHBORS = 3


def explained(
    engine: Engine,
    query: Float32[np.ndarray, "senses d"],
    hits: Sequence[Hit],
    ids: Sequence[str],
    items: Float32[np.ndarray, "items others d"],
) -> list[Hit]:
    """The same hits, each with its reasons."""
    return [
        replace(
            hit, senses=matched(query, vectors), neighbors=_near(engine, query, hit, name, vectors)
        )
        for hit, name, vectors in zip(hits, ids, items, strict=True)
    ]


def matched(
    query: Float32[np.ndarray, "senses d"], item: Float32[np.ndarray, "others d"]
) -> tuple[int, int] | None:
    """The numbers of the two senses that are most alike, from 1; None where each has one."""
    products = query @ item.T
    if products.size == 1:
        return None
    one, other = np.unravel_index(products.argmax(), products.shape)
    return int(one) + 1, int(other) + 1


def _near(
    engine: Engine,
    query: Float32[np.ndarray, "senses d"],
    hit: Hit,
    name: str,
    vectors: Float32[np.ndarray, "others d"],
) -> tuple[Neighbor, ...]:
    """The nearest items of the hit's kind that the model has learned from, but not itself."""
    found = engine.nearest(vectors[None], NEIGHBORS + 1, hit.modality, LEARNED_ONLY)
    pairs = zip(found.ids[0], found.scores[0], strict=True)
    near = [(key, float(score)) for key, score in pairs if key and key != name][:NEIGHBORS]
    if not near:
        return ()
    items = engine.get([key for key, _ in near])
    asked = best_of(query[None], items.vectors)[0]
    lines = plain_lines(items.rows)
    return tuple(
        Neighbor(line["id"], score, float(own), line["text"], line["image"])
        for line, (_, score), own in zip(lines, near, asked, strict=True)
    )

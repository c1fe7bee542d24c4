"""Why a hit was found: which senses matched, and what like it the model has learned from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from jaxtyping import Float32

from trope.index import Engine
from trope.index.candidates import best_of
from trope.index.items import row_of
from trope.search.hits import Hit, Neighbor, plain_lines
from trope.search.hits import hit as hit_of
from trope.search.ranking import LEARNED_ONLY

NEIGHBORS = 3


def explained(
    engine: Engine,
    query: Float32[np.ndarray, "senses d"],
    hits: Sequence[Hit],
    items: Float32[np.ndarray, "items others d"],
    sources: Sequence[str],
) -> list[Hit]:
    """The same hits, each with its reasons."""
    return [
        replace(
            hit,
            senses=matched(query, vectors),
            neighbors=_near(engine, query, hit, vectors, sources),
        )
        for hit, vectors in zip(hits, items, strict=True)
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
    vectors: Float32[np.ndarray, "others d"],
    sources: Sequence[str],
) -> tuple[Neighbor, ...]:
    """The nearest items of the hit's kind that the model has learned from, but not of its row."""
    near = _others(engine, hit, vectors)
    if not near:
        return ()
    items = engine.get([key for key, _ in near])
    asked = best_of(query[None], items.vectors)[0]
    known = [hit_of(0, 0.0, line, sources) for line in plain_lines(items.rows)]
    return tuple(
        Neighbor(key, one.id, score, float(own), one.text, one.image, one.data)
        for one, (key, score), own in zip(known, near, asked, strict=True)
    )


def _others(
    engine: Engine, hit: Hit, vectors: Float32[np.ndarray, "others d"]
) -> list[tuple[str, float]]:
    """Keys and scores; as a row may have many texts, more are asked for until there are enough."""
    count = NEIGHBORS + 1
    while True:
        found = engine.nearest(vectors[None], count, hit.modality, LEARNED_ONLY)
        pairs = [(k, float(s)) for k, s in zip(found.ids[0], found.scores[0], strict=True) if k]
        others = [(key, score) for key, score in pairs if row_of(key) != hit.id]
        if len(others) >= NEIGHBORS or len(pairs) < count:
            return others[:NEIGHBORS]
        count *= 2

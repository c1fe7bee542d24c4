"""How many true captions say something else than the other captions of their image."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from trope.data.pairs import Pairs
from trope.spaces.captions import Corpus, Matrix, Relevance

LOW = 0.3
PART = 256  # images at a time
MEASURES = ("cider-daa", "cider")


def low_shares(pairs: Pairs) -> dict[str, float | None]:
    """The share of captions whose CIDEr with the captions of their image is below 0.3.

    By the released code's measure and by the paper's n-grams, the caption itself among them; and by
    the first without it, where an image has another.
    """
    corpus = Corpus.from_pairs(pairs)
    found = {name: _own(Relevance(name).fit(corpus).on(corpus)) for name in MEASURES}
    shares: dict[str, float | None] = {
        name: float((values < LOW).mean()) for name, values in found.items()
    }
    others = np.repeat(corpus.reference_counts, corpus.reference_counts) - 1
    several = others > 0
    rest = (found[MEASURES[0]][several] * (others[several] + 1) - 1) / others[several]
    return shares | {"without itself": float((rest < LOW).mean()) if len(rest) else None}


def _own(matrix: Matrix) -> Float[np.ndarray, " captions"]:
    """The relevance of each caption for its own image."""
    corpus, parts = matrix.corpus, []
    for first in range(0, corpus.image_count, PART):
        images = np.arange(first, min(first + PART, corpus.image_count))
        captions, ends = corpus.references(images)
        owner = np.repeat(np.arange(len(images)), np.diff(ends))
        block = matrix.block(images, captions)
        parts.append(block[owner, np.arange(len(captions))])
    return np.concatenate(parts).astype(np.float64)

"""The measures and weights of all pairs at once, for any vectors: what an explanation looks at.

All pairs are one batch here: scale · e^{u_i} / mean e^u, what a batch gives on average.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from jaxtyping import Float, Int

from trope.errors import UsageError
from trope.neighbors import Chain
from trope.runtime import generator
from trope.weights.combined import CombinedStats
from trope.weights.neighborhood import chain_of
from trope.weights.semantic import Diversity, Semantic, alphas
from trope.weights.weight import Bank

Vectors: TypeAlias = Float[np.ndarray, "n ... d"]  # with several senses (n k d)

HOW = ("itself", "sample", "senses", "steps")  # settings that say how measures are taken


@dataclass(frozen=True, eq=False)
class Weighed:
    """Of each pair: `scores` and `alpha` by measure, images' then texts', and the final weight.

    Scores are mean cosines: U = Γ · score. `alpha` has the sign and scale of the weight.
    """

    scores: dict[str, Float[np.ndarray, "2 n"]] = field(repr=False)
    alpha: dict[str, Float[np.ndarray, "2 n"]] = field(repr=False)
    weights: Float[np.ndarray, " n"] = field(repr=False)

    def difference(self, measure: str) -> Float[np.ndarray, " n"]:
        """|alpha_X - alpha_Y| of each pair."""
        image, text = self.alpha[measure]
        return np.asarray(np.abs(image - text))


def weigh_all(
    image: Vectors,
    text: Vectors,
    around: Int[np.ndarray, "n N"] | Chain,
    weight: Semantic | None = None,
    seed: int = 0,
) -> Weighed:
    """Both measures, whatever the weight looks at, and the weight of each pair.

    Vectors are (n d), or (n k d) with several senses, of any length but zero: their directions
    count. `around` are the neighbors of each pair by number, -1 for none.
    """
    weight = Diversity() if weight is None else weight
    chain = around if isinstance(around, Chain) else chain_of(around)
    if len(image) != len(text) or len(image) != chain.matrix.shape[0]:
        rows = f"{len(image):,} images, {len(text):,} texts, {chain.matrix.shape[0]:,} rows"
        raise UsageError(f"weights: as many images, texts and rows of neighbors, found {rows}")
    if not len(image):
        raise UsageError("weights: no pairs")
    bank = banked(_units(image, "image"), _units(text, "text"), weight.by_sense)
    random, everyone = generator(seed, "weights"), np.arange(len(image))[None]
    how = {name: getattr(weight, name) for name in HOW}
    scores = dict(CombinedStats(**how).learn(bank, chain, random))
    alpha = {
        name: alphas(both, everyone, weight.sign, weight.scale)[:, 0]
        for name, both in scores.items()
    }
    return Weighed(scores, alpha, weight.over(scores, everyone, random)[0])


def banked(image: Vectors, text: Vectors, by_sense: bool) -> Bank:
    """Vectors of both sides as a bank keeps them: all senses, or their mean."""
    sides = [side if side.ndim == 3 else side[:, None] for side in (image, text)]
    if not by_sense:
        sides = [side.mean(axis=1, keepdims=True) for side in sides]
    return np.stack(sides)


def _units(vectors: Vectors, what: str) -> Vectors:
    """Of length one, in the precision that measures are taken in; what has no direction stays."""
    found = np.asarray(vectors, np.result_type(vectors.dtype, np.float32))
    strange = ~np.isfinite(found).reshape(len(found), -1).all(axis=1)
    if strange.any():
        raise UsageError(f"weights: {what} {strange.argmax()} has numbers that are not finite")
    lengths = np.linalg.norm(found, axis=-1, keepdims=True)
    return np.asarray(found / np.where(lengths > 0, lengths, 1))

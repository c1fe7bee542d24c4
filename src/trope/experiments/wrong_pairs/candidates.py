"""Every score that is compared: those that `trope explain --wrong` offers, and controls.

…-plain          without the vote of what the pair has
ranks            as support-plain, by the share of all others that suit better
likeness         minus the correlation, over all others j, of x_i·x_j and y_i·y_j
…-apart          whatever shares a group, a picture or a text with a pair is left out too
…-seen           fitted to the pair that is judged; without the vote
heads            contrastive heads in place of the regression; without the vote
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TypeAlias

import numpy as np
from jaxtyping import Float32, Float64, Int

from trope.experiments.wrong_pairs import heads
from trope.explain.wrong.regression import fitted
from trope.explain.wrong.scores import SCORES, WITNESSES, Hearing, Testimony, hear
from trope.explain.wrong.sides import Sides
from trope.explain.wrong.standing import standing
from trope.runtime import generator

SAMPLE = 1_000  # others that ranks are counted among

Scores: TypeAlias = Float64[np.ndarray, " n"]


@dataclass(frozen=True, eq=False)
class Case:
    """Pairs of which some are wrong, and how they are judged."""

    sides: Sides = field(repr=False)
    components: Int[np.ndarray, " n"] = field(repr=False)
    how: Hearing
    seed: int

    def scores(self, names: Iterable[str]) -> dict[str, Scores]:
        """Of each pair by each name, high where it looks wrong."""
        return {name: self.score(name) for name in names}

    def score(self, name: str) -> Scores:
        """By one name."""
        if name in SCORES:
            return self.told.score(name)
        if name == "ranks":
            shares = [self.told.outdone[witness] for witness in WITNESSES]
            return np.asarray(np.mean(shares, axis=0))
        if name == "likeness":
            return -likeness(self.sides.image, self.sides.text)
        if name.endswith("-plain"):
            return self.untrusting.score(name.removesuffix("-plain"))
        if name == "support-apart":
            return self._hear(replace(self.sides, tied=self.components)).score()
        if name == "regression-seen":
            return self._seen()
        if name == "heads-seen":
            return heads.seen(self.sides, self.seed)
        apart = self.components if name == "heads-apart" else self.sides.tied
        return heads.out_of_fold(self.sides, apart, self.seed)

    @cached_property
    def told(self) -> Testimony:
        """What the four witnesses say."""
        return self._hear(self.sides)

    @cached_property
    def untrusting(self) -> Testimony:
        """The same without a vote of the pair."""
        return self._hear(self.sides, replace(self.how, trust=0.0))

    def _hear(self, sides: Sides, how: Hearing | None = None) -> Testimony:
        random = generator(self.seed, "ranks")
        sample = random.permutation(len(sides))[:SAMPLE]
        return hear(sides, how or self.how, sample)

    def _seen(self) -> Scores:
        image, text = self.sides.image, self.sides.text
        ways = ((image, text), (text, image))
        told = [standing(fitted(own, other, self.how.strength), other) for own, other in ways]
        return np.asarray(-np.mean(told, axis=0))


def likeness(image: Float32[np.ndarray, "n d"], text: Float32[np.ndarray, "n e"]) -> Scores:
    """The correlation of how alike a pair's picture and its text are to those of all others.

    Sums over all others are closed forms of the sums of x, xxᵀ, xyᵀ; vectors have length one.
    """
    x, y = image.astype(np.float64), text.astype(np.float64)
    others = len(x) - 1
    own = [np.einsum("nd,nd->n", side, side) for side in (x, y)]
    means = [
        (side @ side.sum(axis=0) - one) / others for side, one in zip((x, y), own, strict=True)
    ]
    both = (np.einsum("nd,nd->n", x @ (x.T @ y), y) - own[0] * own[1]) / others
    spreads = [
        (np.einsum("nd,nd->n", side @ (side.T @ side), side) - one**2) / others - mean**2
        for side, one, mean in zip((x, y), own, means, strict=True)
    ]
    return np.asarray(
        (both - means[0] * means[1]) / np.sqrt(np.maximum(np.prod(spreads, axis=0), 1e-24))
    )

"""Diversity and discrepancy as weights (Thomas & Kovashka, CVPR Workshops 2022, Eqs. 3-6, Table 3).

    U_X, U_Y = Γ · the measure among images, among texts
    a_X = λ softmax(U_X)      a_Y = λ softmax(U_Y)         over the batch; alpha of the paper
    a   = λ softmax(|a_X - a_Y|)                           or of another combination

`agreement`, which is ours, is the opposite of the paper's `difference`: -|a_X - a_Y|.

λ = `scale` · B. Γ = `sign`: with -1, the paper's, a_X and a_Y are larger in diverse (discrepant)
neighborhoods; with 0 all are alike. In the paper λ is 196 for COCO and Conceptual Captions, 160 for
GoodNews and 96 for Politics, at B = 32: `scale` 6.125, 5 and 3. The sum of the weights of a batch
is λ, so that their mean is `scale`.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from jaxtyping import Float

from trope.neighbors import Chain
from trope.weights.neighborhood import measured
from trope.weights.sampled import sampled
from trope.weights.spread import softmax, weights_of
from trope.weights.weight import Bank, Batches, Known, PairWeight, Weights

PAPER = 6.125  # λ/B for two of its four data sets

Combination: TypeAlias = Literal[
    "difference", "sum", "image", "text", "product", "max", "agreement"
]
Both: TypeAlias = Float[np.ndarray, "2 steps b"]  # of images, of texts


@dataclass(frozen=True, kw_only=True)
class Semantic(PairWeight):
    """A weight made of what the neighbors of a pair look like in the epoch before.

    `sample` takes so many of each pair's products instead of all by the identity; `senses` says
    what the similarity of two items with several senses is: the mean over them, or the largest,
    which needs a sample. Without `itself` nothing is compared with itself. `fresh` encodes all
    pairs anew before an epoch, as evaluation does, where otherwise the bank has them as they passed
    in training: noisy where there is dropout, and each by the model of that step.
    """

    scale: float = PAPER
    sign: Literal[-1, 0, 1] = -1
    itself: bool = True
    sample: int = 0
    senses: Literal["mean", "max"] = "mean"
    steps: Literal[1, 2] = 2
    fresh: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.sample < 0:
            raise ValueError(f"sample must be at least 0, found {self.sample}")
        if self.senses == "max" and not self.sample:
            raise ValueError("senses: the largest of several is no mean, and needs a sample")

    @property
    @abstractmethod
    def measures(self) -> tuple[str, ...]:
        """Which of the two measures it looks at."""

    @property
    def needs(self) -> frozenset[str]:
        """Where pairs and their neighbors lay."""
        return frozenset({"bank", "neighbors"})

    @property
    def by_sense(self) -> bool:
        """Only where the largest counts."""
        return self.senses == "max"

    def blank(self, bank: tuple[int, int, int, int]) -> Known:
        """Two numbers a pair for each measure."""
        return {name: np.zeros(bank[:2], np.float32) for name in self.measures}

    def learn(self, bank: Bank, chain: Chain | None, random: np.random.Generator) -> Known:
        """Each measure, before its sign, of images and of texts."""
        assert chain is not None
        seed = int(random.integers(2**62))
        sides = [self._measured(chain, side, seed + i) for i, side in enumerate(bank)]
        return {name: np.stack([side[name] for side in sides]) for name in self.measures}

    def _measured(
        self, chain: Chain, side: Float[np.ndarray, "n k d"], seed: int
    ) -> dict[str, np.ndarray]:
        wanted, itself, steps = self.measures, self.itself, self.steps
        if not self.sample:
            return measured(chain, side[:, 0], wanted, itself=itself, steps=steps)
        return sampled(
            chain, side, wanted, sample=self.sample, itself=itself, steps=steps, seed=seed
        )


@dataclass(frozen=True, kw_only=True)
class Measure(Semantic):
    """One measure; `combine` says how those of images and texts become one weight."""

    name: ClassVar[str]
    combine: Combination = "difference"

    @property
    def measures(self) -> tuple[str, ...]:
        """The one."""
        return (self.name,)

    def weigh(self, known: Known, batches: Batches, random: np.random.Generator) -> Weights:
        """The second softmax, over what the first two give."""
        found = alphas(known[self.name], batches, self.sign, self.scale)
        return weights_of(softmax(combination(found, self.combine)), self.scale)


@dataclass(frozen=True, kw_only=True)
class Diversity(Measure):
    """How much the neighbors of a pair differ among themselves (Eqs. 4-6)."""

    name: ClassVar[str] = "diversity"


@dataclass(frozen=True, kw_only=True)
class Discrepancy(Measure):
    """How far a pair lies from its neighbors' neighbors (Eq. 3), or neighbors: `steps` 1."""

    name: ClassVar[str] = "discrepancy"


def alphas(
    scores: Float[np.ndarray, "2 n"], batches: Batches, sign: int = -1, scale: float = PAPER
) -> Both:
    """The first two softmaxes of each batch, from the measure of all pairs before its sign."""
    return weights_of(softmax(sign * scores[:, batches]), scale)


def combination(both: Both, how: Combination) -> Weights:
    """One number a pair of that of its image and that of its text."""
    image, text = both
    if how in ("difference", "agreement"):
        apart = np.abs(image - text)
        return np.asarray(apart if how == "difference" else -apart)
    if how == "sum":
        return np.asarray(image + text)
    if how == "product":
        return np.asarray(image * text)
    if how == "max":
        return np.asarray(np.maximum(image, text))
    return np.asarray(image if how == "image" else text)

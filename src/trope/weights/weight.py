"""What all weights share: what they weigh, what they need, and what they learn from an epoch."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias

import numpy as np
from jaxtyping import Bool, Float, Int
from torch import Tensor

from trope.neighbors import Chain
from trope.views import View

Bank: TypeAlias = Float[np.ndarray, "2 n k d"]  # of all pairs: images, then texts; k senses an item
Batches: TypeAlias = Int[np.ndarray, "steps b"]
Weights: TypeAlias = Float[np.ndarray, "steps b"]
Known: TypeAlias = Mapping[str, np.ndarray]  # what an epoch's weights are made of, by name
Kind: TypeAlias = Literal["pairs", "anchors", "negatives", "hubs"]


@dataclass(frozen=True, kw_only=True)
class Weight:
    """How much a pair, an anchor or a negative counts; a dataclass of its settings.

    Weights are numbers beside the loss: no gradient passes them.
    """

    gives: ClassVar[Kind] = "pairs"

    @property
    def needs(self) -> frozenset[str]:
        """`bank`: where pairs lay in the epoch before; `neighbors`; `density`: of frozen spaces."""
        return frozenset()

    @property
    def by_sense(self) -> bool:
        """Whether the bank must keep all senses of an item, or their mean alone."""
        return False

    def blank(self, bank: tuple[int, int, int, int]) -> Known:
        """What `learn` gives, for a bank of this shape, before there is anything to learn from."""
        return {}

    def learn(self, bank: Bank, chain: Chain | None, random: np.random.Generator) -> Known:
        """What the next epoch's weights are made of."""
        return {}


@dataclass(frozen=True, kw_only=True)
class PairWeight(Weight, ABC):
    """A number for each pair, which follows from what is known before an epoch begins.

    Its mean over a batch is `scale`: λ/B of the papers, so that it means the same whatever B is.

    Two controls leave all but who gets which weight. `permuted` gives the weights of a batch to its
    pairs at random, anew in every epoch, so that in the long run all count alike. `shuffled` weighs
    each pair by what is known of another one, the same in all epochs: as many pairs count more for
    as long, only not those that the weight would choose.
    """

    scale: float = 1.0
    permuted: bool = False
    shuffled: bool = False

    def __post_init__(self) -> None:
        check_positive(scale=self.scale)

    @abstractmethod
    def weigh(self, known: Known, batches: Batches, random: np.random.Generator) -> Weights:
        """The weights of the pairs of each batch, by their numbers."""

    def over(
        self,
        known: Known | None,
        batches: Batches,
        random: np.random.Generator,
        lasting: np.random.Generator | None = None,
    ) -> Weights:
        """The same with the controls asked for; all equal where nothing is known yet.

        `lasting` draws the same in every epoch; of one alone that need not be.
        """
        if known is None:
            return np.full(batches.shape, self.scale)
        if self.shuffled:
            known = _shuffled(known, lasting or random)
        found = self.weigh(known, batches, random)
        return random.permuted(found, axis=1) if self.permuted else found


def _shuffled(known: Known, lasting: np.random.Generator) -> Known:
    """What is known of pairs, given to others; all of one pair goes to the same other."""
    count = max((array.shape[-1] for array in known.values()), default=0)
    order = lasting.permutation(count)
    return {
        name: array[..., order] if array.shape[-1] == count else array
        for name, array in known.items()
    }


@dataclass(frozen=True, kw_only=True)
class ViewWeight(Weight, ABC):
    """Numbers for anchors or negatives, which follow from the batch as the model now sees it."""

    @abstractmethod
    def seen(
        self,
        view: View,
        known: Mapping[str, Tensor] | None,
        barred: Bool[Tensor, "n m"] | None,
        random: np.random.Generator,
    ) -> View:
        """The view with weights in it.

        `known` is None in the first epoch; of what it holds of other pairs, `barred` marks those
        that may not stand beside a pair of the batch.
        """


def check_positive(**settings: float) -> None:
    """Refuse what is not a positive number, by name."""
    for name, value in settings.items():
        if not 0 < value < float("inf"):
            raise ValueError(f"{name} must be above 0, not {value}")

"""Scores corrected against hubs: items that are near to every query, whatever it asks.

Training-free, and from training queries alone (a bank): what many of them find near is made less
near. All three methods take a number per item off its scores; what they rank is ranked the same as
in their papers' forms.

    inverted softmax   log Σ_b exp(β s(b, j)) / β                 Smith et al., ICLR 2017
    QB-Norm            the same, for queries alone whose best item is a hub, that is, the best item
                       of some query of the bank           Bogolin et al., CVPR 2022
    NNN                a times the mean of the k highest s(b, j)   Chowdhury et al., EMNLP 2024
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Literal, TypeAlias, get_args

import numpy as np
import torch
from jaxtyping import Bool, Float, Float32
from torch import Tensor

from trope.errors import UsageError, suggestion
from trope.similarity import similarity
from trope.views import Encoded

Method: TypeAlias = Literal["none", "qb-norm", "inverted-softmax", "nnn"]
METHODS: tuple[Method, ...] = get_args(Method)

BLOCK = 2**24  # products held at a time
BETA, BETAS = 20.0, (5.0, 10.0, 20.0, 40.0)
WEIGHT, WEIGHTS = 0.75, (0.25, 0.5, 0.75, 1.0)
NEAREST, NUMBERS = 16, (4, 16, 64)
LIMITS = 1e-6, 1e6  # of strengths: beyond, 32 bits hold nothing of the scores themselves

Scores: TypeAlias = Float32[np.ndarray, "rows items"]
Block: TypeAlias = Float[Tensor, "bank items"]
Compare: TypeAlias = Callable[[Encoded, Encoded], Float[Tensor, "bank items"]]


@dataclass(frozen=True)
class Hubs:
    """A method and its strength: β of the softmax, or a of NNN, which also has a number k.

    What is None is chosen on the validation split, where there is one; else it is the default.
    """

    method: Method = "none"
    strength: float | None = None
    nearest: int | None = None

    def __post_init__(self) -> None:
        if self.method not in METHODS:
            raise UsageError(f"hubs: no method '{self.method}'{suggestion(self.method, METHODS)}")
        least, most = LIMITS
        if self.strength is not None and not least <= self.strength <= most:
            limits = f"from {least:g} to {most:,.0f}"
            raise UsageError(f"hubs.strength: a number {limits}, found {self.strength:g}")
        if self.nearest is not None and self.nearest < 1:
            raise UsageError(f"hubs: nearest must be at least 1, found {self.nearest}")

    @property
    def settled(self) -> bool:
        """Whether nothing is left to choose."""
        return self.strength is not None and (self.method != "nnn" or self.nearest is not None)

    def default(self) -> Hubs:
        """With the default for all that is not chosen."""
        strength = self.strength or (WEIGHT if self.method == "nnn" else BETA)
        return Hubs(self.method, strength, self.nearest or NEAREST)

    def choices(self) -> Iterator[Hubs]:
        """All that validation may choose from."""
        strengths = WEIGHTS if self.method == "nnn" else BETAS
        numbers = NUMBERS if self.method == "nnn" else (NEAREST,)
        chosen = (self.strength,) if self.strength else strengths
        several = (self.nearest,) if self.nearest else numbers
        for strength, nearest in product(chosen, several):
            yield Hubs(self.method, strength, nearest)

    def told(self) -> str:
        """In words, for a header."""
        if self.method == "nnn":
            return f"nnn (a {self.strength:g}, k {self.nearest})"
        return f"{self.method} (β {self.strength:g})"


@dataclass(frozen=True, eq=False)
class Correction:
    """What is taken off the scores of each item; with `hubs`, only where such an item is best."""

    bias: Float32[np.ndarray, " items"]
    hubs: Bool[np.ndarray, " items"] | None = None

    def __call__(self, scores: Scores) -> Scores:
        """Corrected scores; they compare items of one query, not queries."""
        if self.hubs is None:
            return np.asarray(scores - self.bias)
        asked = self.hubs[scores.argmax(axis=1)]
        return np.asarray(scores - np.where(asked[:, None], self.bias, np.float32(0)))


def correction(
    bank: Encoded,
    items: Encoded,
    settings: Hubs,
    compare: Compare = similarity,
    room: int = 1,
) -> Correction | None:
    """What a bank of training queries says about the items; None if no method is chosen.

    `compare` gives the scores of queries with items, and holds `room` numbers for each.
    """
    if settings.method == "none":
        return None
    chosen, blocks = settings.default(), _blocks(bank, items, compare, room)
    if chosen.method == "nnn":
        return Correction(_nearest_means(blocks, chosen))
    bias, hubs = _softened(blocks, float(chosen.strength or BETA))
    return Correction(bias, hubs if chosen.method == "qb-norm" else None)


def _softened(
    blocks: Iterable[Block], beta: float
) -> tuple[Float32[np.ndarray, " items"], Bool[np.ndarray, " items"]]:
    """A soft maximum of each item's scores with the bank, and which items are some query's best."""
    total, hubs = torch.tensor(-torch.inf, dtype=torch.float64), torch.tensor(False)
    for scores in blocks:
        best = torch.zeros(scores.shape[1], dtype=torch.bool)
        best[scores.argmax(dim=1)] = True
        hubs = hubs | best
        total = torch.logaddexp(total, (beta * scores.double()).logsumexp(dim=0))
    return (total / beta).float().numpy(), hubs.numpy()


def _nearest_means(blocks: Iterable[Block], settings: Hubs) -> Float32[np.ndarray, " items"]:
    """The mean of the highest scores that each item has with the bank, times the strength."""
    wanted, best = int(settings.nearest or NEAREST), torch.empty(0)
    for scores in blocks:
        both = torch.cat([best, scores]) if len(best) else scores
        best = both.topk(min(wanted, len(both)), dim=0).values
    return (float(settings.strength or WEIGHT) * best.double().mean(dim=0)).float().numpy()


def _blocks(bank: Encoded, items: Encoded, compare: Compare, room: int) -> Iterator[Block]:
    each = [1 if side.points is None else side.points.shape[1] for side in (bank, items)]
    step = max(1, BLOCK // max(1, len(items.mean) * each[0] * each[1] * room))
    for start in range(0, len(bank.mean), step):
        yield compare(bank.take(slice(start, start + step)), items).detach().float().cpu()

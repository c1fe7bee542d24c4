"""What all losses share: settings that are checked, and what they need of a batch."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import ClassVar, TypeVar

from jaxtyping import Float
from torch import Tensor, nn

from trope.views import View

Part = TypeVar("Part")


class Loss(nn.Module, ABC):
    """A batch of pairs in, one number per pair out, in which both directions are added.

    A loss is a dataclass of its settings. One number per pair, so that pairs can be weighted; the
    mean is taken once, in the training step. Other pairs with the same image or text are no
    negatives, and what a learned temperature is stays with the loss. `takes` are the kinds of
    weights that a loss applies itself: of anchors, negatives, hubs. One that does not ask for the
    scores of a batch, but puts points together itself, says so: `takes_scores` is False.
    """

    takes: ClassVar[frozenset[str]] = frozenset()
    takes_scores: ClassVar[bool] = True

    def __post_init__(self) -> None:
        super().__init__()

    def applies(self, kind: str) -> bool:
        """Whether it applies weights of this kind itself, by its settings."""
        return kind in self.takes

    @property
    def needs(self) -> frozenset[str]:
        """The optional parts a view must have: near-text, near-image, meaning, look, labels, odds.

        And those that a model must give: logits, length.
        """
        return frozenset()

    @property
    def of_labels(self) -> bool:
        """Whether a pair without labels costs nothing, whatever a trained model says of it."""
        return False

    @abstractmethod
    def forward(self, view: View) -> Float[Tensor, " n"]:
        """The loss of each pair."""


def part(value: Part | None, name: str) -> Part:
    """An optional part of a view that a loss cannot do without."""
    if value is None:
        raise ValueError(f"this loss needs the view's '{name}'")
    return value


def check_weights(**settings: float) -> None:
    """Refuse what is negative or not finite, by name."""
    for name, value in settings.items():
        if not (math.isfinite(value) and value >= 0):
            raise ValueError(f"{name} must be zero or more, not {value}")


def check_between(low: float, high: float, **settings: float) -> None:
    """Refuse what is not in a range, whose ends are allowed, by name."""
    for name, value in settings.items():
        if not low <= value <= high:
            raise ValueError(f"{name} must be between {low:g} and {high:g}, not {value}")

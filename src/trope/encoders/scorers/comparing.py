"""What a model's own way to compare images with texts is to all who ask it."""

from __future__ import annotations

from abc import ABC, abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor, nn

from trope.views import Encoded


class Comparing(nn.Module, ABC):
    """Encoded images and texts in, the similarity of each couple out: larger is nearer.

    `room` is how many numbers are held for each couple that is compared, where that is not bounded
    otherwise. One that `draws` random numbers in training needs the whole batch in every process.
    """

    room: int = 1
    draws: bool = False

    @property
    def odds(self) -> Float[Tensor, ""] | None:
        """What scores are multiplied by to be log-odds of a match, where they are of that kind."""
        return None

    def probability(self, scores: Float[Tensor, "*n"]) -> Float[Tensor, "*n"] | None:
        """How likely image and text match, from their score, where scores are of that kind."""
        return None if self.odds is None else torch.sigmoid(self.odds * scores)

    @abstractmethod
    def forward(self, image: Encoded, text: Encoded) -> Float[Tensor, "n m"]:
        """Every image with every text."""

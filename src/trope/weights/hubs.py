"""Global weights of HAL (Liu et al., AAAI 2020): hubs among all pairs, not only in the batch.

    B_i  = Σ e^{β s - ε₋} over the K bank texts nearest to image i,    C_j: bank images, of text j
    w_ij = (B_i + C_j) / (B_i + C_j + e^{β s_ii} + e^{β s_jj})         of a negative
    w_ii = Σ e^{a s} over both lists / (e^{a s_ii} + the same sum)     of a positive; a: `alpha`

The loss `hal` puts w_ij into its exponents and w_ii into its positive term. Formulas and numbers as
in the authors' public code (hardyqr/HAL; there ε₋ is not multiplied by β, and a margin of positives
cancels). There the bank is 5 % of the training batches, encoded anew before each epoch from the
second on; ours is 5 % of the pairs as they lay in the epoch before, which costs nothing. Pairs of
the batch, and those with the image or text of a pair, are not looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import torch
from jaxtyping import Bool, Float
from torch import Tensor

from trope.maths import normalize
from trope.neighbors import Chain
from trope.similarity import own_scores_of, similarity
from trope.views import Encoded, View
from trope.weights.weight import Bank, Kind, Known, ViewWeight, check_positive


@dataclass(frozen=True, kw_only=True)
class Hubs(ViewWeight):
    """Negatives of items near to many others count more, and so do positives of such items."""

    gives: ClassVar[Kind] = "hubs"
    share: float = 0.05
    nearest: int = 250
    alpha: float = 40.0
    beta: float = 40.0
    margin: float = 0.1

    def __post_init__(self) -> None:
        check_positive(alpha=self.alpha, beta=self.beta)
        if not 0 < self.share <= 1:
            raise ValueError(f"share must be above 0 and at most 1, found {self.share}")
        if self.nearest < 1:
            raise ValueError(f"nearest must be at least 1, found {self.nearest}")

    @property
    def needs(self) -> frozenset[str]:
        """Where pairs lay."""
        return frozenset({"bank"})

    @property
    def by_sense(self) -> bool:
        """Similarities are those of the model."""
        return True

    def blank(self, bank: tuple[int, int, int, int]) -> Known:
        """The numbers of the chosen pairs, and where they lay."""
        _, n, *size = bank
        many = max(1, round(self.share * n))
        sides = {name: np.zeros((many, *size), np.float32) for name in ("image", "text")}
        return {"rows": np.zeros(many, np.int64), **sides}

    def learn(self, bank: Bank, chain: Chain | None, random: np.random.Generator) -> Known:
        """A share of the pairs, others in every epoch."""
        many = max(1, round(self.share * bank.shape[1]))
        rows = np.sort(random.choice(bank.shape[1], many, replace=False))
        return {"rows": rows, "image": np.asarray(bank[0, rows]), "text": np.asarray(bank[1, rows])}

    @torch.no_grad()
    def seen(
        self,
        view: View,
        known: Mapping[str, Tensor] | None,
        barred: Bool[Tensor, "n m"] | None,
        random: np.random.Generator,
    ) -> View:
        """Weights of negatives, and on the diagonal those of positives; none in the first epoch."""
        if known is None:
            return view
        texts = similarity(view.image, _encoded(known["text"], view.image))
        images = similarity(view.text, _encoded(known["image"], view.text))
        own = own_scores_of(view)
        if barred is not None:
            texts = texts.masked_fill(barred, -torch.inf)
            images = images.masked_fill(barred, -torch.inf)
        return replace(view, hubs=self.weights(own, self._top(texts), self._top(images)))

    def weights(
        self,
        own: Float[Tensor, " n"],
        texts: Float[Tensor, "n K"],
        images: Float[Tensor, "n K"],
    ) -> Float[Tensor, "n n"]:
        """In logarithms: shares of sums of exponentials are logistic functions of their ratio."""
        text, image = ((self.beta * near).logsumexp(dim=1) for near in (texts, images))
        hubs = torch.logaddexp(text[:, None], image[None, :]) - self.margin
        pairs = torch.logaddexp(self.beta * own[:, None], self.beta * own[None, :])
        crowd = (self.alpha * torch.cat([texts, images], dim=1)).logsumexp(dim=1)
        positive = torch.sigmoid(crowd - self.alpha * own)
        return torch.sigmoid(hubs - pairs).diagonal_scatter(positive)

    def _top(self, scores: Float[Tensor, "n m"]) -> Float[Tensor, "n K"]:
        return scores.topk(min(self.nearest, scores.shape[1]), dim=1).values


def _encoded(points: Float[Tensor, "m k d"], like: Encoded) -> Encoded:
    """Items of the bank, with senses where those of the batch have them."""
    points = points.to(like.mean.dtype)
    if like.points is None:
        return Encoded(points[:, 0])
    return Encoded(normalize(points.sum(dim=1)), points)

"""The form that ranking losses share: an anchor's positive against the batch's other items.

    L = image_to_text L(image, its text; other texts)
      + text_to_image L(text, its image; other images)
      + text L(text, the neighbor's text; other texts)
      + image L(image, the neighbor's image; other images)

The last two are the within-modality losses of Thomas & Kovashka (ECCV 2020), Eqs. 6-8. All terms
are made of n by n similarities: memory grows with the square of the batch. Weights of anchors and
negatives are for the first two.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import ClassVar

from jaxtyping import Bool, Float
from torch import Tensor

from trope.losses.loss import Loss, check_weights, part
from trope.similarity import (
    own_scores_of,
    paired_similarity,
    scores_of,
    similarity,
    summed_similarity,
)
from trope.views import Encoded, Near, View

Similarities = Callable[[], Float[Tensor, "n m"]]  # made when asked for: few losses need all


@dataclass(eq=False, kw_only=True)
class Ranking(Loss):
    """A sum of up to four terms; `text` and `image` weigh those of the semantic neighbor."""

    takes: ClassVar[frozenset[str]] = frozenset({"anchors", "negatives"})
    image_to_text: float = 1.0
    text_to_image: float = 1.0
    text: float = 0.0
    image: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_weights(image_to_text=self.image_to_text, text_to_image=self.text_to_image)
        check_weights(text=self.text, image=self.image)

    @property
    def needs(self) -> frozenset[str]:
        """The neighbor's text, its image, or both: those whose terms have weight."""
        weights = {"near-text": self.text, "near-image": self.image}
        return frozenset(name for name, weight in weights.items() if weight)

    @abstractmethod
    def rank(
        self,
        positive: Float[Tensor, " n"],
        negative: Similarities,
        summed: Similarities,
        allowed: Bool[Tensor, "n m"],
        weights: Float[Tensor, "n m"] | None = None,
    ) -> Float[Tensor, " n"]:
        """One term, of s(a, p), s(a, n_j) and s(a, n_j) + s(p, n_j), over the allowed n_j.

        Each n_j counts by its weight, where there are weights.
        """

    def forward(self, view: View) -> Float[Tensor, " n"]:
        """The loss of each pair."""
        image, text, allowed = view.image, view.text, ~view.same
        own, scores = own_scores_of(view), cache(partial(scores_of, view))
        texts = partial(summed_similarity, image, text, text)
        images = partial(summed_similarity, image, text, image)
        of_texts, of_images = (None, None) if view.negatives is None else view.negatives
        from_image = self.rank(own, scores, texts, allowed, of_texts)
        from_text = self.rank(own, lambda: scores().T, images, allowed, of_images)
        if view.anchors is not None:
            from_image, from_text = view.anchors[0] * from_image, view.anchors[1] * from_text
        loss = self.image_to_text * from_image + self.text_to_image * from_text
        if not self.needs or (view.near is None and not self.training):
            return loss  # validation looks at the pairs alone
        near = part(view.near, " and ".join(sorted(self.needs)))
        allowed = ~(view.same | near.same)
        if self.text:
            other = part(near.text, "near-text")
            loss = loss + self.text * counted(self._within(text, other, allowed), near)
        if self.image:
            other = part(near.image, "near-image")
            loss = loss + self.image * counted(self._within(image, other, allowed), near)
        return loss

    def _within(
        self, items: Encoded, near: Encoded, allowed: Bool[Tensor, "n n"]
    ) -> Float[Tensor, " n"]:
        """A term whose anchor, positive and negatives are of one modality."""
        own, negative = paired_similarity(items, near), partial(similarity, items, items)
        return self.rank(own, negative, partial(summed_similarity, items, near, items), allowed)


def counted(found: Float[Tensor, " n"], near: Near) -> Float[Tensor, " n"]:
    """A neighbor's term, zero for a pair that has no neighbor."""
    return found if near.there is None else found.masked_fill(~near.there, 0)


def violations(
    positive: Float[Tensor, " n"],
    negative: Float[Tensor, "n m"],
    allowed: Bool[Tensor, "n m"],
    margin: float,
    weights: Float[Tensor, "n m"] | None = None,
) -> Float[Tensor, "n m"]:
    """[margin + negative - positive]₊ of the allowed entries by their weights, elsewhere zero."""
    found = (margin + negative - positive[:, None]).relu().masked_fill(~allowed, 0)
    return found if weights is None else weights * found

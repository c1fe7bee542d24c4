"""What a model gives and a loss takes: encoded items, and a batch of pairs seen together."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

from jaxtyping import Bool, Float, Int
from torch import Tensor


@dataclass(frozen=True)
class Encoded:
    """Items of one modality: `mean` has length one; `points` are K senses of an item, each too.

    `residuals` is what made the senses differ, before they were added to the shared vector. A model
    that compares parts (cells, words) keeps them as `locals`, of length one; `present` marks the
    real ones where some are padding, which is zeros. With `log_sigma` an item is a normal
    distribution around its mean, of these logarithms of standard deviations. `logits` are log-odds
    of labels: the sigmoid of one is the score of its label. `length` is that of the vector before
    it was scaled to one. `masked` is what it cost in training to predict the parts of an item that
    were masked.
    """

    mean: Float[Tensor, "n d"]
    points: Float[Tensor, "n k d"] | None = None
    residuals: Float[Tensor, "n k d"] | None = None
    locals: Float[Tensor, "n l d"] | None = None
    present: Bool[Tensor, "n l"] | None = None
    log_sigma: Float[Tensor, "n d"] | None = None
    logits: Float[Tensor, "n c"] | None = None
    length: Float[Tensor, " n"] | None = None
    masked: Float[Tensor, " n"] | None = None

    def take(self, rows: Int[Tensor, " rows"] | slice) -> Encoded:
        """Chosen items, by number or from one to another."""
        found: dict[str, Any] = {
            field.name: None if (value := getattr(self, field.name)) is None else value[rows]
            for field in fields(self)
        }
        return Encoded(**found)

    def points_only(self) -> Encoded:
        """Without the parts, which take far more memory than where an item lies."""
        return replace(self, locals=None, present=None)


@dataclass(frozen=True)
class Near:
    """For each pair of the batch one other pair: a semantic neighbor, or another text of its image.

    A side that the loss does not need is None. `same` marks the pairs of the batch that have the
    neighbor's image or text; `there` is False where a pair has no neighbor and what stands here
    means nothing.
    """

    image: Encoded | None
    text: Encoded | None
    same: Bool[Tensor, "n n"]
    there: Bool[Tensor, " n"] | None = None


@dataclass(frozen=True)
class View:
    """A batch of n pairs. `same` marks pairs with the same image or text, and so its diagonal.

    `meaning` and `look` are the pairs' vectors in a frozen space of texts and one of images.

    Weights that a loss applies itself: of `anchors`, images then texts; of `negatives`, each
    image's texts then each text's images, of mean one; of `hubs`, with pairs on the diagonal.

    `scores` are those of a model that compares images with texts itself, images in rows; of others
    they follow from the points. Times `odds`, where there are any, they are logarithms of the odds
    that image and text match. `relevance` is how much the text of a column says the same as the
    texts of a row's image.

    `labels` are those of each pair, of all that the model knows; of a pair without any nobody knows
    which are right.
    """

    image: Encoded
    text: Encoded
    same: Bool[Tensor, "n n"]
    near: Near | None = None
    meaning: Float[Tensor, "n m"] | None = None
    look: Float[Tensor, "n l"] | None = None
    anchors: Float[Tensor, "2 n"] | None = None
    negatives: Float[Tensor, "2 n n"] | None = None
    hubs: Float[Tensor, "n n"] | None = None
    scores: Float[Tensor, "n n"] | None = None
    odds: Float[Tensor, ""] | None = None
    relevance: Float[Tensor, "n n"] | None = None
    labels: Bool[Tensor, "n c"] | None = None

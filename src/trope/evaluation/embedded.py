"""A split as vectors: its gallery, and where pictures and texts lie; whatever model placed them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int

from trope.data.pairs import Pairs
from trope.encoders.scorers.comparing import Comparing
from trope.evaluation.gallery import Gallery, Side
from trope.evaluation.predictions import Predicted
from trope.evaluation.reranked import Reranked
from trope.evaluation.scoring import Similarities, refuse_strange, some
from trope.views import Encoded


@dataclass(frozen=True, eq=False)
class Embedded:
    """The vectors of a gallery's pictures and texts, in its order; predicted labels, if any.

    `remarks` is what there is to say about the split; `scorer` compares pictures with texts, where
    that of a model is more than a cosine, all pairs or `candidates` by cosine for each query.
    """

    gallery: Gallery
    image: Encoded = field(repr=False)
    text: Encoded = field(repr=False)
    predicted: Predicted | None = field(default=None, repr=False)
    remarks: tuple[str, ...] = ()
    scorer: Comparing | None = field(default=None, repr=False)
    candidates: int = 0

    def __post_init__(self) -> None:
        refuse_strange(self.image, self.gallery.names_of("image"), "image")
        refuse_strange(self.text, self.gallery.names_of("text"), "text")

    @cached_property
    def similarities(self) -> Similarities:
        """How alike pictures and texts are; both directions look at the same."""
        if self.scorer is not None and self.candidates:
            return Reranked(self.image, self.text, self.scorer, self.candidates)
        return Similarities(self.image, self.text, self.scorer)

    def of(self, side: Side) -> Encoded:
        """The vectors of one side."""
        return self.image if side == "image" else self.text

    def take(self, images: Int[np.ndarray, " images"]) -> Embedded:
        """Some pictures with their texts."""
        texts = self.gallery.texts_of(images)
        predicted = None if self.predicted is None else self.predicted.take(images, texts)
        return replace(
            self,
            gallery=self.gallery.take(images),
            image=some(self.image, images),
            text=some(self.text, texts),
            predicted=predicted,
            remarks=(),
        )


@dataclass(frozen=True, eq=False)
class Bank:
    """Vectors of training pictures and texts: the queries that tell hubs."""

    image: Encoded = field(repr=False)
    text: Encoded = field(repr=False)

    def __len__(self) -> int:
        """The queries of the side that has fewer."""
        return min(len(self.image.mean), len(self.text.mean))

    def of(self, side: Side) -> Encoded:
        """The vectors of one side."""
        return self.image if side == "image" else self.text


@runtime_checkable
class Source(Protocol):
    """Where vectors come from: a trained model with a data set, or files."""

    @property
    def pairs(self) -> Pairs | None:
        """The data set, where there is one."""
        ...

    @property
    def has_space(self) -> bool:
        """Whether it comes with a semantic space of its own."""
        ...

    def embedded(self, split: str) -> Embedded:
        """The vectors of a split."""
        ...

    def bank(self) -> Bank | None:
        """Vectors of training queries, where there are some."""
        ...

    def validation(self) -> Embedded | None:
        """The vectors of the validation split, where there is one."""
        ...

    def training(self) -> Embedded | None:
        """The vectors of training pictures with labels, and of their texts, where there are any."""
        ...

    @property
    def threshold(self) -> float | None:
        """The score from which on a label is predicted where none can be chosen, if one is."""
        ...

    def space(self, asked: str) -> str:
        """The name of the semantic space that is asked for; `run` is its own."""
        ...

    def meaning(self, space: str) -> Float[np.ndarray, "texts d"]:
        """Vectors of all texts of the data in a semantic space, by number."""
        ...

"""The order of the first candidates, made anew: by a model that compares pairs itself, or by what
training queries say about hubs (`trope.evaluation.hubs`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import Tensor

from trope.errors import UsageError
from trope.evaluation.hubs import Correction, Hubs, correction
from trope.index import Engine
from trope.index.compared import encoded_from
from trope.index.filters.tree import Compare, Every
from trope.index.items import LEARNED, MODALITY, Items, Modality, Vectors
from trope.maths import normalize
from trope.runtime import generator
from trope.views import Encoded

LARGEST_BANK = 20_000  # training queries


@runtime_checkable
class Reranker(Protocol):
    """Scores a query with candidates better than a product of vectors can; higher is nearer."""

    def __call__(self, query: Encoded, candidates: Encoded) -> Float[Tensor, " candidates"]:
        """A score for each candidate."""
        ...


def as_encoded(items: Items) -> Encoded:
    """Items of an index as a model gave them."""
    if items.details is not None:
        return encoded_from(items.details, items.vectors[:, 0])
    return from_vectors(items.vectors)


def from_vectors(vectors: Vectors) -> Encoded:
    """Vectors of an index as a model gave them."""
    points = torch.from_numpy(np.ascontiguousarray(vectors))
    if points.shape[1] == 1:
        return Encoded(points[:, 0])
    return Encoded(normalize(points.sum(dim=1)), points)


@dataclass(frozen=True, eq=False)
class Bank:
    """Training queries of a modality that are in an index, to tell hubs among items of another."""

    engine: Engine
    vectors: Vectors
    found: Modality

    @classmethod
    def of(cls, engine: Engine, asked: Modality, found: Modality) -> Bank:
        """From the items that the model has learned from; a sample of them where there are many."""
        learned = engine.find(Every((_learned(), Compare(MODALITY, "=", asked))))
        if not learned:
            raise UsageError(f"hubs: the index holds no {asked} that the model was trained on")
        if len(learned) > LARGEST_BANK:
            chosen = generator(0, "bank").choice(len(learned), LARGEST_BANK, replace=False)
            learned = [learned[i] for i in np.sort(chosen)]
        return cls(engine, engine.get(learned).vectors, found)

    @cached_property
    def best(self) -> frozenset[str]:
        """The items that are nearest to some query: hubs."""
        nearest = self.engine.nearest(self.vectors, 1, self.found).ids[:, 0]
        return frozenset(name for name in nearest if name)

    def corrected(
        self, scores: Float32[np.ndarray, " items"], ids: list[str], items: Vectors, hubs: Hubs
    ) -> Float32[np.ndarray, " items"]:
        """Scores of candidates with what the bank says about each taken off."""
        made = correction(from_vectors(self.vectors), from_vectors(items), hubs)
        assert made is not None
        if made.hubs is not None:  # hubs are the best of all items, not of these alone
            made = Correction(made.bias, np.array([name in self.best for name in ids]))
        return np.asarray(made(scores[None])[0])


def _learned() -> Compare:
    return Compare(LEARNED, "=", True)


LEARNED_ONLY = _learned()

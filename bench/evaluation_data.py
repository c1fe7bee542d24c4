"""Vectors of pictures and texts to evaluate, with labels or relevance; their product is timed."""

from __future__ import annotations

import time

import numpy as np
import torch

from bench.relevance import synthetic
from trope.evaluation.gallery import Side
from trope.similarity import similarity
from trope.spaces.captions import Corpus, Relevance
from trope.views import Encoded

TEXTS, SIZE = 5, 512  # of a picture; of a vector
CATEGORIES, OBJECTS = 80, 3  # labels there are, and that a picture has on average
CUTS = (1, 5, 10)
PART = 4_096
DIRECTIONS: dict[str, Side] = {"image_to_text": "image", "text_to_image": "text"}

Figures = dict[str, dict[str, float]]  # by direction and name


class Data:
    """Unit vectors of pictures and, around them, of their texts; labels and relevance if needed."""

    def __init__(self, count: int, every: int, run: str) -> None:
        random = np.random.default_rng(0)
        self.every, self.products = every, [0.0]  # one query in so many; seconds
        self.images = random.standard_normal((count, SIZE), np.float32)
        self.relevance = self._grade() if run.endswith("asp") else None
        self.images /= np.linalg.norm(self.images, axis=1, keepdims=True)
        self.owners = np.repeat(np.arange(count), TEXTS)
        self.texts = np.empty((count * TEXTS, SIZE), np.float32)
        for start in range(0, len(self.texts), PART):  # all at once would be the peak of memory
            part = self.texts[start : start + PART]
            random.standard_normal(out=part, dtype=np.float32)
            part *= np.float32(0.3)
            part += self.images[self.owners[start : start + PART]]
            part /= np.linalg.norm(part, axis=1, keepdims=True)
        labels = (random.random((count, CATEGORIES)) < OBJECTS / CATEGORIES).astype(np.int32)
        self.labels = labels if run.endswith("pmrp") else None

    def _grade(self) -> np.ndarray:
        """CIDEr of made-up captions, kept: its making is not measured. Vectors come to know it."""
        captions = synthetic(len(self.images))
        corpus = Corpus.from_tokens(captions)
        words = [[w for some in each for w in some if w.startswith("word")] for each in captions]
        known = {word: k for k, word in enumerate(sorted({w for each in words for w in each}))}
        sense = np.random.default_rng(1).standard_normal((len(known), SIZE), np.float32)
        for image, each in enumerate(words):
            self.images[image] += sense[[known[word] for word in each]].sum(axis=0)
        return Relevance("cider").fit(corpus).on(corpus).rows(np.arange(len(captions)))

    def grades(self, side: Side, rows: np.ndarray) -> np.ndarray:
        """How relevant each item is for some queries of a side."""
        assert self.relevance is not None
        if side == "image":
            return self.relevance[rows]
        return np.ascontiguousarray(self.relevance[:, rows].T)

    def product(
        self, left: Encoded, right: Encoded, out: torch.Tensor | None = None
    ) -> torch.Tensor:
        """All cosines, timed."""
        started = time.perf_counter()
        found = similarity(left, right, out)
        self.products[-1] += time.perf_counter() - started
        return found

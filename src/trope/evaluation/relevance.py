"""How relevant each text of a gallery is for each picture, by what their captions say.

A caption measure compares text j with all texts of picture i; words are weighted by how rare they
are in the whole split, also where only a fold of it is looked at. A text of the picture is compared
with itself too, as in the released code of DAA, so it is among the most relevant.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

import numpy as np
from jaxtyping import Float32, Int

from trope.evaluation.gallery import Gallery, Side
from trope.spaces.captions import Corpus, Matrix, Relevance

TILE = 16_384  # texts prepared together

Rows: TypeAlias = Int[np.ndarray, " rows"]
Images: TypeAlias = Int[np.ndarray, " images"]
Texts: TypeAlias = Int[np.ndarray, " texts"]
Graded: TypeAlias = Callable[[Rows], Float32[np.ndarray, "rows items"]]


@dataclass(frozen=True, eq=False)
class Captions:
    """The captions of a whole gallery, and the measures asked for; nothing is computed ahead."""

    gallery: Gallery
    measures: tuple[str, ...]
    _known: dict[str, Matrix] = field(default_factory=dict, repr=False)

    @cached_property
    def corpus(self) -> Corpus:
        """The texts of each picture, as numbers of words."""
        words, bounds = self.gallery.captions(), self.gallery.starts
        return Corpus.from_texts(words[first:last] for first, last in pairwise(bounds))

    def matrix(self, measure: str) -> Matrix:
        """Pictures by texts."""
        if measure not in self._known:
            self._known[measure] = Relevance(measure).fit(self.corpus).on(self.corpus)
        return self._known[measure]

    def graded(self, side: Side, images: Images, texts: Texts) -> Mapping[str, Graded]:
        """For each measure, rows of queries of one side to their relevance to all of the other."""
        made = _of_images if side == "image" else _of_texts
        return {name: made(self.matrix(name), images, texts) for name in self.measures}


def _of_images(matrix: Matrix, images: Images, texts: Texts) -> Graded:
    prepared: list[Callable[[Rows], Float32[np.ndarray, "rows some"]]] = []

    def grade(rows: Rows) -> Float32[np.ndarray, "rows items"]:
        if not prepared:
            prepared.extend(matrix.scorer.against(part) for part in _tiles(texts))
        return np.concatenate([against(images[rows]) for against in prepared], axis=1)

    return grade


def _of_texts(matrix: Matrix, images: Images, texts: Texts) -> Graded:
    def grade(rows: Rows) -> Float32[np.ndarray, "rows items"]:
        return np.ascontiguousarray(matrix.block(images, texts[rows]).T)

    return grade


def _tiles(texts: Texts) -> Sequence[Int[np.ndarray, " _some"]]:
    return [texts[first : first + TILE] for first in range(0, len(texts), TILE)]

"""How much each caption says the same as the captions of each image, in blocks of any shape.

relevance = Relevance("cider").fit(train).on(test)
relevance.block(images, captions)      # a mini-batch
relevance.rows(images)                 # some images against all captions
relevance.top(200)                     # the best captions of every image
relevance.write(path)                  # the whole matrix, for `numpy.load(path, mmap_mode="r")`
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias, get_args

import numpy as np
from jaxtyping import Float32, Int

from trope.errors import UsageError, suggestion
from trope.files import replacing
from trope.neighbors.rows import existing
from trope.runtime import progress
from trope.spaces.captions.corpus import Corpus
from trope.spaces.captions.measures import named
from trope.spaces.captions.postings import Rows
from trope.spaces.captions.scoring import Against, Block, Measure, Scorer

Side: TypeAlias = Literal["image", "caption"]
SIDES: tuple[Side, ...] = get_args(Side)

# Sums over this many captions stay in a core's own cache.
TILE = 16_384
# What a block of scores may take, with the copies that sorting it makes.
MEMORY = 256 * 2**20
BYTES_PER_SCORE = 24


@dataclass(frozen=True)
class Relevance:
    """A measure by its name, not fitted yet."""

    measure: str

    def __post_init__(self) -> None:
        named(self.measure)

    def fit(self, corpus: Corpus) -> Fitted:
        """Learn how rare n-grams are from a corpus: that of training, or the one evaluated."""
        return Fitted(named(self.measure)(corpus))


@dataclass(frozen=True, eq=False)
class Fitted:
    """A measure that has learned what it learns from a corpus."""

    measure: Measure

    def on(self, corpus: Corpus) -> Matrix:
        """The relevance of a corpus's captions for its images, not computed yet."""
        return Matrix(corpus, self.measure.on(corpus))


class Top(NamedTuple):
    """The best of each row, best first; equal scores in the order of the columns."""

    columns: Int[np.ndarray, "rows k"]
    scores: Float32[np.ndarray, "rows k"]


@dataclass(frozen=True, eq=False)
class Matrix:
    """Images by captions, of which only the asked-for parts are ever computed."""

    corpus: Corpus
    scorer: Scorer = field(repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        """How many images and captions there are."""
        return self.corpus.image_count, self.corpus.caption_count

    def block(self, images: Rows, captions: Rows) -> Block:
        """Some images against some captions, in the given order."""
        images, captions = existing(images, self.shape[0]), existing(captions, self.shape[1])
        return self.scorer.against(captions)(images)

    def rows(self, images: Rows) -> Block:
        """Some images against all captions."""
        images = existing(images, self.shape[0])
        out = np.empty((len(images), self.shape[1]), np.float32)
        for first, against in zip(range(0, self.shape[1], TILE), self._tiles, strict=True):
            out[:, first : first + TILE] = against(images)
        return out

    def top(self, k: int, of: Side = "image") -> Top:
        """The `k` best captions of every image, or images of every caption; fewer if there are."""
        if k < 1:
            raise ValueError(f"k must be at least 1, found {k}")
        if of not in SIDES:
            raise UsageError(f"of: no side '{of}'{suggestion(str(of), SIDES)}")
        best = [_best(block, k) for block in self._blocks(of)]
        width = min(k, self.shape[of == "image"])
        columns = np.concatenate([np.zeros((0, width), np.int64), *(found[0] for found in best)])
        scores = np.concatenate([np.zeros((0, width), np.float32), *(found[1] for found in best)])
        return Top(columns, scores)

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the whole matrix as a `.npy` file, block by block, whole or not at all."""
        about = {"descr": "<f4", "fortran_order": False, "shape": self.shape}
        with replacing(Path(path)) as handle:
            np.lib.format.write_array_header_1_0(handle, about)
            for block in self._blocks("image"):
                handle.write(np.ascontiguousarray(block, "<f4").data)

    @cached_property
    def _tiles(self) -> list[Against]:
        """All captions, prepared once, in parts small enough to be fast."""
        everything = np.arange(self.shape[1])
        return [
            self.scorer.against(everything[first : first + TILE])
            for first in range(0, len(everything), TILE)
        ]

    def _blocks(self, of: Side) -> Iterator[Block]:
        """The whole matrix, or its transpose, a bounded number of rows at a time."""
        rows, columns = self.shape if of == "image" else self.shape[::-1]
        everything = np.arange(columns)
        part: Callable[[Rows], Block] = (
            self.rows if of == "image" else lambda captions: self.block(everything, captions).T
        )
        step = max(1, MEMORY // (BYTES_PER_SCORE * max(1, columns)))
        for first in progress(range(0, rows, step), "relevance"):
            yield part(np.arange(first, min(rows, first + step)))


def _best(block: Block, k: int) -> Top:
    """The largest of each row: one integer holds score and column, so that no two are equal.

    The bits of floats that are not negative are ordered like the floats.
    """
    width = block.shape[1]
    bits = np.ascontiguousarray(block).view(np.uint32).astype(np.uint64)
    keys = (bits << np.uint64(32)) | np.arange(width, 0, -1, dtype=np.uint64)
    if k < width:
        keys = np.partition(keys, width - k, axis=1)[:, width - k :]
    keys = np.sort(keys, axis=1)[:, ::-1]
    columns = width - (keys & np.uint64(0xFFFFFFFF)).astype(np.int64)
    return Top(columns, (keys >> np.uint64(32)).astype(np.uint32).view(np.float32))

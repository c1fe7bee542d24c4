"""The pairs that are trained on: one text with its picture, by number."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow.compute as pc
from jaxtyping import Bool, Float, Int

from trope.data.identity import codes, same_text
from trope.data.pairs import Pairs
from trope.errors import DataError
from trope.runtime import generator

Numbers = Int[np.ndarray, " samples"]


@dataclass(frozen=True, eq=False)
class Samples:
    """Pairs of one split: the numbers of their texts and of their pictures.

    Two texts with the same `meaning` are the same text, as splits see it.
    """

    texts: Numbers
    images: Numbers
    meaning: Numbers

    def __len__(self) -> int:
        return len(self.texts)

    def same(
        self, left: Int[np.ndarray, " left"], right: Int[np.ndarray, " right"]
    ) -> Bool[np.ndarray, "left right"]:
        """Which samples have the same picture or the same text."""
        images = self.images[left][:, None] == self.images[right]
        return np.asarray(images | (self.meaning[left][:, None] == self.meaning[right]))

    def size(self, batch: int, processes: int = 1) -> int:
        """The samples of a step: a batch, or all there are, as many for each process."""
        return min(batch, len(self)) // processes * processes

    def order(
        self, seed: int, epoch: int, batch: int, processes: int = 1
    ) -> Int[np.ndarray, "steps batch"]:
        """The samples of each step of an epoch; a last batch that is not full is left out."""
        shuffled = generator(seed, "order", str(epoch)).permutation(len(self))
        size = self.size(batch, processes)
        return shuffled[: len(self) // size * size].reshape(-1, size)


def samples(pairs: Pairs, images: Int[np.ndarray, " rows"], split: str) -> Samples:
    """The pairs of a split that have both a text and a usable picture."""
    texts, owners = pairs.flat_texts()
    inside = np.asarray(pc.fill_null(pc.equal(pairs.column("split"), split), False))
    meaning = codes(texts, same_text)
    usable = inside[owners] & (images[owners] >= 0) & (meaning >= 0)
    chosen = np.flatnonzero(usable)
    if not len(chosen):
        raise DataError(f"{pairs.root}: split '{split}' has no row with a text and a usable image")
    return Samples(chosen, images[owners[chosen]], meaning[chosen])


def drawn(
    ids: Int[np.ndarray, "samples k"], seed: int, epoch: int
) -> tuple[Numbers, Bool[np.ndarray, " samples"]]:
    """One neighbor of each sample, all equally likely; itself, and False, where it has none."""
    counts = np.count_nonzero(ids >= 0, axis=1)
    chance: Float[np.ndarray, " samples"] = generator(seed, "near", str(epoch)).random(len(ids))
    place = np.minimum((chance * counts).astype(np.int64), np.maximum(counts - 1, 0))
    rows = np.arange(len(ids))
    there = counts > 0
    return np.where(there, ids[rows, place], rows).astype(np.int64), there

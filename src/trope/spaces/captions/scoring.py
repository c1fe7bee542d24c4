"""What every measure offers: fit on a corpus, look at a corpus, score images against captions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float32

from trope.compiled import spread
from trope.spaces.captions.corpus import Corpus
from trope.spaces.captions.postings import Rows

Block = Float32[np.ndarray, "images captions"]
# From rows of images to their scores against captions prepared once.
Against = Callable[[Rows], Block]


@runtime_checkable
class Scorer(Protocol):
    """A measure that has looked at a corpus: its n-grams are counted and weighted."""

    def against(self, captions: Rows) -> Against:
        """Prepare some captions; what comes back scores any images against them."""


@runtime_checkable
class Measure(Protocol):
    """A measure with all it has learned, such as how rare words are."""

    def on(self, corpus: Corpus) -> Scorer:
        """Count and weight the n-grams of a corpus."""


# How a measure learns from a corpus; most learn nothing.
Fit = Callable[[Corpus], Measure]


def filled(images: int, captions: int, work: Callable[[int, int, Block], None]) -> Block:
    """A block of scores, its rows filled by `work(first, last, part of the block)` on all cores."""
    block = np.empty((images, captions), np.float32)
    spread(images, captions, lambda first, last: work(first, last, block[first:last]))
    return block

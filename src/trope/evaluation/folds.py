"""COCO's 1K protocol: whole folds of so many pictures in the order of the data, and their mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int
from scipy import sparse

from trope.errors import UsageError
from trope.evaluation.gallery import Gallery, Side
from trope.wording import counted


@dataclass(frozen=True, eq=False)
class Fold:
    """Some pictures of a gallery and the places of their texts in it."""

    images: Int[np.ndarray, " images"]
    texts: Int[np.ndarray, " texts"]
    right: sparse.csr_matrix
    whole: bool = False

    def of(self, side: Side) -> Int[np.ndarray, " _items"]:
        """The places of one side."""
        return self.images if side == "image" else self.texts


def folds_of(gallery: Gallery, size: int) -> list[Fold]:
    """As many whole folds as there are; the pictures left over are in none. 0: all in one."""
    images = np.arange(len(gallery.images))
    if not size:
        return [Fold(images, np.arange(len(gallery.texts)), gallery.right, True)]
    if size > len(images):
        raise UsageError(f"--folds {size}: there are only {counted(len(images), 'picture')}")
    if size < 2:
        raise UsageError(f"--folds {size}: a fold needs at least two pictures to choose from")
    found = []
    for start in range(0, len(images) // size * size, size):
        some = images[start : start + size]
        texts = gallery.texts_of(some)
        found.append(Fold(some, texts, gallery.right[some][:, texts].tocsr()))
    return found

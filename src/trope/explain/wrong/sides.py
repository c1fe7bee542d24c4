"""Pairs as two arrays: a vector for each picture and one for the texts that go with it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
from jaxtyping import Float32, Int
from scipy import sparse

from trope.data.components import components
from trope.data.digests import image_digests
from trope.data.pairs import Pairs
from trope.errors import DataError
from trope.neighbors.rows import copies, scale
from trope.spaces import Vectors

FEWEST = 3  # pairs that can be compared with each other

Rows: TypeAlias = Int[np.ndarray, " n"]
Ties: TypeAlias = Literal["pairs", "components"]


@dataclass(frozen=True, eq=False)
class Sides:
    """Pictures and texts of the same pairs, row by row: vectors of length one about their means.

    Pairs with the same number in `tied` say nothing about each other.
    """

    image: Float32[np.ndarray, "n d"] = field(repr=False)
    text: Float32[np.ndarray, "n e"] = field(repr=False)
    tied: Rows = field(repr=False)

    def __len__(self) -> int:
        return len(self.tied)


def usable(texts: Vectors, pictures: Vectors) -> Rows:
    """The rows with a picture and a text that have vectors."""
    spoken = np.bincount(texts.owners, texts.values.any(axis=1), len(pictures)) > 0
    return np.flatnonzero(spoken & pictures.values.any(axis=1))


def vectors_of(
    texts: Vectors, pictures: Vectors, rows: Rows
) -> tuple[Float32[np.ndarray, "n d"], Float32[np.ndarray, "n e"]]:
    """The two sides of some rows; a row with several texts has the mean of their directions."""
    spoken = _directions(texts.values)
    shape = (len(pictures), len(texts))
    ones = np.ones(len(texts), np.float32)
    sums = sparse.csr_array((ones, (texts.owners, np.arange(len(texts)))), shape=shape) @ spoken
    return about_mean(pictures.values[rows]), about_mean(np.asarray(sums)[rows])


def ties(
    image: Float32[np.ndarray, "n d"],
    text: Float32[np.ndarray, "n e"],
    pairs: Pairs,
    by: Ties,
) -> tuple[Rows, tuple[str, ...]]:
    """Which pairs say nothing about each other, and what there is to tell of it.

    A pair says nothing about its own copies, with the same picture and the same text; nor, by
    components, about whatever shares a group, a picture or a text with it. Where that leaves less
    than half of the pairs to judge the largest component by, copies alone are tied.
    """
    if by == "components":
        found = components(pairs, image_digests(pairs).values)
        if (largest := int(np.bincount(found).max())) <= len(pairs) / 2:
            return found, ()
        told = f"{largest:,} of {len(pairs):,} pairs belong together, too many to leave out at once"
        return _copies(image, text), (f"{told}: only copies of a pair are left out",)
    return _copies(image, text), ()


def about_mean(values: Float32[np.ndarray, "n d"]) -> Float32[np.ndarray, "n d"]:
    """Directions as seen from the mean of all directions."""
    unit = _directions(values)
    unit -= unit.mean(axis=0, dtype=np.float64).astype(np.float32)
    scale(unit)
    return unit


def require(count: int, pairs: Pairs) -> None:
    """Refuse what is too little to compare."""
    if count < FEWEST:
        raise DataError(
            f"{pairs.root}: {count:,} of {len(pairs):,} rows have a picture and a text that can be "
            f"used; {FEWEST} are needed to compare"
        )


def require_different(
    image: Float32[np.ndarray, "n d"], text: Float32[np.ndarray, "n e"], pairs: Pairs
) -> None:
    """Refuse a side that is the same in all rows: nothing could suit a pair better or worse."""
    for side, what in ((image, "pictures"), (text, "texts")):
        if not copies(side).any():
            raise DataError(
                f"{pairs.root}: all {len(side):,} {what} that can be used are equal; no pair can "
                "look more wrong than another"
            )


def _copies(image: Float32[np.ndarray, "n d"], text: Float32[np.ndarray, "n e"]) -> Rows:
    both = np.stack([copies(image), copies(text)], axis=1)
    return np.asarray(np.unique(both, axis=0, return_inverse=True)[1]).ravel()


def _directions(values: Float32[np.ndarray, "n d"]) -> Float32[np.ndarray, "n d"]:
    unit: Float32[np.ndarray, "n d"] = np.array(values, np.float32)
    scale(unit)
    return unit

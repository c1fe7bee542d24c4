"""Vectors made ready for a search: checked, named by content, and which may not meet.

A row of zeros is an item without content (an empty text, a missing picture): it has no neighbors
and is nobody's neighbor.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

import numpy as np
from jaxtyping import Bool, Float, Float32, Float64, Int

from trope.errors import DataError

Metric: TypeAlias = Literal["l2", "cosine"]
METRICS: tuple[Metric, ...] = get_args(Metric)
BLOCK = 2**14  # rows that are looked at at a time
LARGEST = 1e15  # its square still is a number of 32 bits
PIECE = 2**10  # pairs of rows, which fit the processor's own memory

Vectors: TypeAlias = Float[np.ndarray, "n d"]
Numbers: TypeAlias = Int[np.ndarray, " n"]


@dataclass(frozen=True, eq=False)
class Rows:
    """Vectors with content; `numbers` says which rows of the original they are, in order.

    Rows with equal `copies` have the same vector, rows with equal `owners` belong together; neither
    are neighbors.
    """

    vectors: Float32[np.ndarray, "n d"]
    numbers: Numbers
    copies: Numbers
    owners: Numbers | None
    metric: Metric

    def __len__(self) -> int:
        return len(self.vectors)

    def barred(self) -> Numbers:
        """How many rows each one may not have as a neighbor, itself included; at most."""
        count = np.bincount(self.copies)[self.copies]
        if self.owners is not None:
            count = count + np.bincount(self.owners)[self.owners] - 1
        return np.asarray(count)

    def may_meet(
        self, left: Int[np.ndarray, " some"], right: Int[np.ndarray, " some"]
    ) -> Bool[np.ndarray, " some"]:
        """Which of these pairs of rows can be neighbors."""
        fine = self.copies[left] != self.copies[right]
        if self.owners is not None:
            fine &= self.owners[left] != self.owners[right]
        return np.asarray(fine)

    def distances(
        self, left: Int[np.ndarray, " some"], right: Int[np.ndarray, " some"]
    ) -> Float64[np.ndarray, " some"]:
        """Euclidean or cosine distances of pairs of rows, computed in double precision."""
        squares = np.empty(len(left))
        for start in range(0, len(left), PIECE):
            part = slice(start, start + PIECE)
            gap = np.take(self.vectors, right[part], axis=0).astype(np.float64)
            gap -= np.take(self.vectors, left[part], axis=0)
            squares[part] = np.vecdot(gap, gap)
        return np.sqrt(squares) if self.metric == "l2" else squares / 2


def ready(vectors: Vectors, metric: Metric, owners: Numbers | None = None) -> Rows:
    """Check vectors, leave out rows of zeros, scale to length one for the cosine."""
    numbers = np.flatnonzero(_content(vectors))
    plain = np.ascontiguousarray(vectors[numbers], dtype=np.float32)
    if metric == "cosine":
        plain = _unit(plain)
    kept = None if owners is None else np.unique(owners[numbers], return_inverse=True)[1]
    return Rows(plain, numbers, _copies(plain), kept, metric)


def fingerprint(vectors: Vectors, owners: Numbers | None = None) -> str:
    """A digest of what is searched: every value of the vectors, and who owns them."""
    digest = hashlib.blake2b(repr(vectors.shape).encode(), digest_size=16)
    for start in range(0, len(vectors), BLOCK):
        digest.update(np.ascontiguousarray(vectors[start : start + BLOCK], dtype="<f4").data)
    if owners is not None:
        digest.update(np.ascontiguousarray(owners, dtype="<i8").data)
    return digest.hexdigest()


def _content(vectors: Vectors) -> Bool[np.ndarray, " n"]:
    """Which rows are not all zero; a value that is no number is refused."""
    content = np.zeros(len(vectors), bool)
    for start in range(0, len(vectors), BLOCK):
        part = np.asarray(vectors[start : start + BLOCK])
        usable = (np.abs(part) <= LARGEST).all(axis=1)
        if not usable.all():
            row = start + int(np.flatnonzero(~usable)[0])
            raise DataError(f"vector {row} holds a value that is no number, or too large a one")
        content[start : start + BLOCK] = part.any(axis=1)
    return content


def _unit(vectors: Float32[np.ndarray, "n d"]) -> Float32[np.ndarray, "n d"]:
    """Rows of length one; lengths in double precision, so that no value is too large or small."""
    lengths = np.sqrt(np.einsum("nd,nd->n", vectors, vectors, dtype=np.float64))
    return np.asarray(vectors / lengths[:, None], dtype=np.float32)


def _copies(vectors: Float32[np.ndarray, "n d"]) -> Numbers:
    """A number per row, the same for rows with the same values."""
    if not vectors.size:
        return np.zeros(len(vectors), np.int64)
    plain = vectors + np.float32(0)  # -0 and 0 are one value
    packed = plain.view(f"V{plain.dtype.itemsize * plain.shape[1]}")[:, 0]
    return np.asarray(np.unique(packed, return_inverse=True)[1])

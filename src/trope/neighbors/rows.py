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

from trope.errors import DataError, UsageError

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
        """How many different vectors each row may not have as neighbors, its own included; at most.

        A vector that several rows have is barred only by as many rows of the same owner.
        """
        if self.owners is None:
            return np.ones(len(self), np.int64)
        return np.asarray(np.bincount(self.owners)[self.owners])

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


def checked(vectors: Vectors, owners: Numbers | None = None) -> tuple[Vectors, Numbers | None]:
    """Vectors as rows of numbers, and one owner for each; anything else is refused."""
    vectors = np.asanyarray(vectors)
    if vectors.ndim != 2 or vectors.dtype.kind not in "fiu":
        wanted = "numbers of shape (rows, size) are wanted"
        raise UsageError(f"vectors: {wanted}, found {_kind(vectors)}")
    if owners is None:
        return vectors, None
    owners = np.asarray(owners)
    if owners.shape != vectors.shape[:1] or (owners.size and owners.dtype.kind not in "iu"):
        wanted = f"one number for each of the {len(vectors):,} vectors is wanted"
        raise UsageError(f"owners: {wanted}, found {_kind(owners)}")
    return vectors, owners.astype(np.int64, copy=False)


def existing(rows: Int[np.ndarray, " some"], count: int) -> Int[np.ndarray, " some"]:
    """Numbers of rows that exist; a negative one would silently mean another row."""
    rows = np.asarray(rows)
    if rows.ndim != 1 or (rows.size and rows.dtype.kind not in "iu"):
        raise UsageError(f"rows: a list of row numbers is wanted, found {_kind(rows)}")
    if rows.size and not 0 <= rows.min() <= rows.max() < count:
        raise IndexError(f"rows from {rows.min()} to {rows.max()}, but there are {count:,}")
    return rows.astype(np.int64, copy=False)


def _kind(array: np.ndarray) -> str:
    return f"{array.dtype} of shape {array.shape}"


def ready(vectors: Vectors, metric: Metric, owners: Numbers | None = None) -> Rows:
    """Check vectors, leave out rows of zeros, scale to length one for the cosine."""
    numbers = np.flatnonzero(_content(vectors))
    plain = np.ascontiguousarray(vectors[numbers], dtype=np.float32)
    if metric == "cosine":
        scale(plain)
    kept = None if owners is None else np.unique(owners[numbers], return_inverse=True)[1]
    return Rows(plain, numbers, copies(plain), kept, metric)


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


def scale(vectors: Float32[np.ndarray, "n d"]) -> None:
    """Make rows as long as one, in place; zeros stay.

    Lengths are computed in double precision, so that no value is too large or small.
    """
    for start in range(0, len(vectors), BLOCK):
        part = vectors[start : start + BLOCK]
        lengths = np.sqrt(np.einsum("nd,nd->n", part, part, dtype=np.float64))
        part /= np.where(lengths > 0, lengths, 1)[:, None]


def copies(vectors: Float32[np.ndarray, "n d"]) -> Numbers:
    """A number per row, the same for rows with the same values; in the order of the first.

    Rows are told apart by their hashes; where these err, by all their values.
    """
    if not vectors.size:
        return np.zeros(len(vectors), np.int64)
    which, first = _numbered(_hashes(vectors))
    for start in range(0, len(vectors), BLOCK):
        part = slice(start, start + BLOCK)
        if not np.array_equal(vectors[part], vectors[first[which[part]]]):
            return _numbered(_packed(vectors + np.float32(0)))[0]
    return which


def _numbered(values: np.ndarray) -> tuple[Numbers, Int[np.ndarray, " different"]]:
    """A number for each value in the order of their first places, and these places."""
    _, first, which = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    return np.asarray(number[which]), np.asarray(first[order])


def _hashes(vectors: Float32[np.ndarray, "n d"]) -> np.ndarray:
    """128 bits a row: twice a sum of its values' bits, each times a random number."""
    random = np.random.default_rng(0)
    factors = random.integers(0, 2**64, (2, vectors.shape[1]), np.uint64)
    hashes = np.empty((len(vectors), 2), np.uint64)
    for start in range(0, len(vectors), BLOCK):
        part = vectors[start : start + BLOCK] + np.float32(0)  # -0 and 0 are one value
        bits = part.view(np.uint32).astype(np.uint64)
        for column, some in enumerate(factors):
            hashes[start : start + BLOCK, column] = bits @ some
    return _packed(hashes)


def _packed(values: np.ndarray) -> np.ndarray:
    """Each row as one value of many bytes."""
    return values.view(f"V{values.dtype.itemsize * values.shape[1]}")[:, 0]

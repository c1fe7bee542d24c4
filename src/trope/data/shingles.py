"""Texts as sets of hashed shingles: every few consecutive characters, or words, of a text.

Shingles are made when they are needed, for a portion of the texts at a time, as whole arrays of
64-bit hashes. Nothing of a text is held, so memory does not grow with the length of the texts.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np
import pyarrow as pa
from jaxtyping import Float, Int, Shaped, UInt
from scipy.sparse import csr_array

from trope.data.text import tokenize
from trope.runtime import progress

Texts: TypeAlias = Sequence[str | None] | pa.Array | pa.ChunkedArray
Indices: TypeAlias = Int[np.ndarray, "..."]
Hashes: TypeAlias = UInt[np.ndarray, "..."]
Shares: TypeAlias = Float[np.ndarray, "..."]
Labels: TypeAlias = Shaped[np.ndarray, "..."]

# Characters hashed at once: bounds the memory of a step to some 150 MB.
_AT_ONCE = 1_000_000
_ROWS_AT_ONCE = 10_000
_OUTSIDE = 0x110000  # no character has this number
_MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)


@dataclass(frozen=True)
class Shingled:
    """A collection of texts that can be asked for the shingles of some of its rows."""

    texts: Texts
    unit: Literal["characters", "words"]
    width: int
    seed: int

    def normal(self, rows: Iterable[int]) -> Iterator[str]:
        """The form in which texts are compared: NFC, case-folded, single-spaced; or words only."""
        for row in rows:
            text = self.texts[row]
            text = (text.as_py() if isinstance(text, pa.Scalar) else text) or ""
            if not text.isascii():
                text = unicodedata.normalize("NFD", text)
            text = unicodedata.normalize("NFC", text.casefold())
            yield " ".join(tokenize(text) if self.unit == "words" else text.split())

    def identical(self) -> tuple[Indices, Indices]:
        """For each text the first row with the same normal form, and how long that form is.

        An empty text is like no other: it is the first of its kind.
        """
        count = len(self.texts)
        digests, sizes = bytearray(), np.zeros(count, dtype=np.int64)
        for start in progress(range(0, count, _ROWS_AT_ONCE), "texts"):
            rows = range(start, min(start + _ROWS_AT_ONCE, count))
            for row, normal in zip(rows, self.normal(rows), strict=True):
                digests += blake2b(normal.encode("utf-8", "surrogatepass"), digest_size=16).digest()
                sizes[row] = len(normal)
        values = pa.Array.from_buffers(pa.binary(16), count, [None, pa.py_buffer(digests)])
        first = first_members(values.dictionary_encode().indices.to_numpy())
        return np.where(sizes > 0, first, np.arange(count)), sizes

    def shingles(self, rows: Indices) -> tuple[Hashes, Indices]:
        """The hashed shingles of some texts, one text after the other, and where each starts."""
        normal = list(self.normal(rows.tolist()))
        units, lengths = _words(normal) if self.unit == "words" else _characters(normal)
        return _windows(units, lengths, self.width, self.seed)

    def jaccard(self, left: Indices, right: Indices) -> Shares:
        """The exact Jaccard similarity |A ∩ B| / |A or B| of the shingle sets of pairs of rows."""
        rows, positions = np.unique(np.concatenate([left, right]), return_inverse=True)
        hashes, offsets = self.shingles(rows)
        # A row is a set of hashes. Columns are never laid out, so their number costs nothing.
        columns = (hashes >> np.uint64(1)).astype(np.int64)
        content = (np.ones(len(hashes), dtype=bool), columns, offsets)
        sets = csr_array(content, shape=(len(rows), np.iinfo(np.int64).max))
        sets.sum_duplicates()
        first, second = sets[positions[: len(left)]], sets[positions[len(left) :]]
        both = np.diff(first.multiply(second).indptr)
        return np.asarray(both / (np.diff(first.indptr) + np.diff(second.indptr) - both))


def fold(columns: Iterable[Hashes], seed: int) -> Hashes:
    """One 64-bit hash of several columns, row by row; their order matters."""
    state: Hashes = np.array(seed % 2**64, dtype=np.uint64)
    for column in columns:
        state = (state ^ column) * _MULTIPLIER
        state ^= state >> np.uint64(29)
    return state


def portions(sizes: Indices) -> list[slice]:
    """Cut items into runs whose sizes add up to about what is hashed at once."""
    total = np.cumsum(sizes)
    cuts = np.searchsorted(total, np.arange(_AT_ONCE, total.max(initial=0), _AT_ONCE)) + 1
    bounds = np.unique(np.concatenate([[0], cuts, [len(sizes)]])).tolist()
    return [slice(start, end) for start, end in pairwise(bounds)]


def first_members(labels: Labels) -> Indices:
    """For each row the first row with the same label."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.asarray(first[inverse])


def _characters(texts: Sequence[str]) -> tuple[Hashes, Indices]:
    """All characters as numbers, and how many each text has."""
    codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
    return codes.astype(np.uint64), np.fromiter(map(len, texts), np.int64, len(texts))


def _words(texts: Sequence[str]) -> tuple[Hashes, Indices]:
    """All words as hashes, and how many each text has."""
    words = pa.array(" ".join(texts).split(" ")).dictionary_encode()
    distinct = words.dictionary.to_pylist()
    digests = b"".join(blake2b(word.encode(), digest_size=8).digest() for word in distinct)
    counts = np.fromiter((text.count(" ") + 1 for text in texts), np.int64, len(texts))
    hashes = np.frombuffer(digests, dtype="<u8").astype(np.uint64)
    return hashes[words.indices.to_numpy()], counts


def _windows(units: Hashes, lengths: Indices, width: int, seed: int) -> tuple[Hashes, Indices]:
    """Hash every `width` consecutive units of a text; a shorter text is one padded window."""
    gaps = np.arange(len(lengths)) * (width - 1)
    padded = np.full(len(units) + len(lengths) * (width - 1), _OUTSIDE, dtype=np.uint64)
    padded[np.arange(len(units)) + np.repeat(gaps, lengths)] = units
    size = len(padded) - width + 1
    hashes = fold((padded[start : start + size] for start in range(width)), seed)
    counts = np.maximum(lengths - width + 1, 1)
    offsets = np.concatenate([[0], np.cumsum(counts)])
    starts = np.cumsum(lengths) - lengths + gaps
    return hashes[np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], counts)], offsets

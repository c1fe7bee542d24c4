"""Texts that are nearly the same: one press release twice, the boilerplate of failed scrapes.

MinHash signatures (Broder 1997) are cut into bands; texts that agree on a whole band are
candidates, and each candidate is verified by the exact Jaccard similarity of its shingles, so that
there are no false positives. Memory: about 200 bytes a text and 150 MB for the step at work.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from jaxtyping import Bool, Float, Int
from rensa import RMinHash
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from trope.data.shingles import (
    Hashes,
    Indices,
    Shares,
    Shingled,
    Texts,
    first_members,
    fold,
    portions,
)
from trope.runtime import progress

Links: TypeAlias = tuple[Indices, Indices, Shares]

# In a bucket a text is compared with the first and with so many neighbors: never with all.
_NEIGHBORS = 8
# A pair exactly at the threshold shares a band with at least this probability.
_RECALL = 0.99


@dataclass(frozen=True)
class NearDuplicates:
    """When texts count as the same: the least Jaccard similarity of their sets of shingles."""

    threshold: float = 0.8
    shingle: int = 5
    unit: Literal["characters", "words"] = "characters"
    permutations: int = 128
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.threshold <= 1:
            raise ValueError(f"threshold must be above 0 and at most 1, found {self.threshold}")
        if self.unit not in ("characters", "words"):
            raise ValueError(f"unit must be 'characters' or 'words', found {self.unit!r}")
        for name, least in (("shingle", 1), ("permutations", 16), ("seed", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, found {getattr(self, name)}")


@dataclass(frozen=True)
class DuplicateClusters:
    """Which texts belong together: each carries the row of the first text of its cluster.

    A text without duplicates carries its own row. Clusters follow chains of links, so two texts of
    one cluster may be less alike than the threshold. The links (left < right, with their exact
    similarity) are enough to hold each cluster together; they are not all its pairs.
    """

    ids: Int[np.ndarray, " texts"]
    left: Int[np.ndarray, " links"]
    right: Int[np.ndarray, " links"]
    jaccard: Float[np.ndarray, " links"]

    def repeated(self) -> Bool[np.ndarray, " texts"]:
        """Which texts have an earlier one in their cluster: drop these to keep one of each."""
        return np.asarray(self.ids != np.arange(len(self.ids)))

    def groups(self) -> list[Int[np.ndarray, " members"]]:
        """The rows of each cluster of two or more, in order."""
        order = np.argsort(self.ids, kind="stable")
        starts = np.flatnonzero(np.diff(self.ids[order])) + 1
        return [rows for rows in np.split(order, starts) if len(rows) > 1]

    def links(self) -> list[tuple[int, int, float]]:
        """The verified links as plain tuples: row, later row, Jaccard similarity."""
        columns = (self.left.tolist(), self.right.tolist(), self.jaccard.tolist())
        return list(zip(*columns, strict=True))


def find(texts: Texts, settings: NearDuplicates | None = None) -> DuplicateClusters:
    """Cluster texts that are nearly the same; empty and missing texts are never duplicates."""
    settings = settings or NearDuplicates()
    shingled = Shingled(texts, settings.unit, settings.shingle, settings.seed)
    labels, sizes = shingled.identical()
    repeated = labels != np.arange(len(labels))
    copies = np.flatnonzero(repeated)
    links: list[Links] = [(labels[copies], copies, np.ones(len(copies)))]
    distinct = np.flatnonzero(~repeated & (sizes > 0))
    for left, right in _candidates(_band_keys(shingled, distinct, sizes[distinct], settings)):
        pairs = np.sort(distinct[np.stack([left, right])], axis=0)
        # What is already connected needs no further proof: a large family costs one star.
        apart = labels[pairs[0]] != labels[pairs[1]]
        for verified in _verified(shingled, pairs[:, apart], sizes, settings.threshold):
            links.append(verified)
            labels = _joined(labels, *verified[:2])
    left, right, jaccard = (np.concatenate(parts) for parts in zip(*links, strict=True))
    order = np.lexsort((right, left))
    return DuplicateClusters(first_members(labels), left[order], right[order], jaccard[order])


def _bands(threshold: float, permutations: int) -> tuple[int, int]:
    """How many bands of how many rows: the longest that still find a pair at the threshold.

    Texts of similarity s share one or more of b bands of r rows with probability 1-(1-s^r)^b.
    """
    rows = np.arange(1, permutations + 1)
    bands = permutations // rows
    found = 1 - (1 - threshold**rows) ** bands
    best = np.flatnonzero(found >= _RECALL).max(initial=0)
    return int(bands[best]), int(rows[best])


def _band_keys(
    shingled: Shingled, distinct: Indices, sizes: Indices, settings: NearDuplicates
) -> Hashes:
    """One hash for each band of the signature of each distinct text."""
    bands, rows = _bands(settings.threshold, settings.permutations)
    keys = np.zeros((len(distinct), bands), dtype=np.uint64)
    for portion in progress(portions(sizes + settings.shingle), "signatures"):
        hashes, offsets = shingled.shingles(distinct[portion])
        digests = RMinHash.digest_matrix_from_flat_token_hashes(
            hashes, offsets.astype(np.uint64), settings.permutations, settings.seed
        )
        signatures = np.array(digests.to_rows(), dtype=np.uint64)[:, : bands * rows]
        banded = signatures.reshape(-1, bands, rows)
        keys[portion] = fold((banded[:, :, row] for row in range(rows)), settings.seed)
    return keys


def _candidates(keys: Hashes) -> Iterator[tuple[Indices, Indices]]:
    """Pairs that share a band: each text with the first of its bucket, then with its neighbors.

    Buckets are sorted by the bands that follow, so that in a large one the nearest texts stand side
    by side: the number of pairs grows with the size of a bucket, not with its square.
    """
    for band in progress(range(keys.shape[1]), "duplicates"):
        _, inverse, counts = np.unique(keys[:, band], return_inverse=True, return_counts=True)
        shared = np.flatnonzero(counts[inverse] > 1)
        ranking = np.take(keys[shared], [band + 2, band + 1, band], axis=1, mode="wrap")
        order = np.lexsort(ranking.T)
        members, bucket = shared[order], ranking[order, 2]
        yield members[first_members(bucket)], members
        position, distance = _same_bucket(bucket)
        yield members[position], members[position + distance]


def _same_bucket(bucket: Hashes) -> tuple[Indices, Indices]:
    """Positions in sorted keys, and the distances from each at which the same key stands again."""
    ahead = np.arange(len(bucket))[:, None] + np.arange(1, _NEIGHBORS + 1)
    same = np.take(bucket, ahead, mode="clip") == bucket[:, None]
    position, step = np.nonzero(same & (ahead < len(bucket)))
    return position, step + 1


def _verified(
    shingled: Shingled, pairs: Indices, sizes: Indices, threshold: float
) -> Iterator[Links]:
    """The pairs whose exact similarity reaches the threshold, with that similarity."""
    for portion in portions(sizes[pairs].sum(axis=0)):
        left, right = pairs[:, portion]
        jaccard = shingled.jaccard(left, right)
        passed = jaccard >= threshold
        if passed.any():
            yield left[passed], right[passed], jaccard[passed]


def _joined(labels: Indices, left: Indices, right: Indices) -> Indices:
    """The labels of clusters after some pairs of rows are linked."""
    ends, size = (labels[left], labels[right]), len(labels)
    graph = coo_array((np.ones(len(left), dtype=bool), ends), shape=(size, size))
    return np.asarray(connected_components(graph, directed=False)[1][labels])

"""Where the judged pairs stand when everything is ranked: counted, so that nothing is sorted.

A place is two numbers: how many candidates score higher and how many score the same. From them
follows, for any number of mined positives, how likely a pair is among them when ties are broken
at random. Places are taken within a query's own ranking and among all pairs of all queries.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, fields
from pathlib import Path

import numpy as np
from jaxtyping import Bool, Float32, Float64, Int
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save

from trope.experiments.crisscrossed import Judged
from trope.files import replacing
from trope.runtime import progress

Counts = Int[np.ndarray, " _"]
Rows = Int[np.ndarray, " _"]
Score = Callable[[Rows], Float32[np.ndarray, "queries captions"]]

BLOCK = 2**22  # scores at a time
# Bits of a score that a count over all pairs drops: scores this near (1 in NEAR) count as tied.
DROPPED = 10
NEAR = 2 ** (np.finfo(np.float32).nmant - DROPPED)
BINS = int(np.array(np.inf, np.float32).view(np.uint32)) >> DROPPED


@dataclass(frozen=True, eq=False)
class Places:
    """The score of each judged pair and its place; pairs of a query's own image have no place."""

    scores: Float32[np.ndarray, " _"] = field(repr=False)
    above: Counts = field(repr=False)
    tied: Counts = field(repr=False)
    above_all: Counts = field(repr=False)
    tied_all: Counts = field(repr=False)

    def only(self, chosen: Bool[np.ndarray, " _"]) -> Places:
        """The places of some pairs."""
        return Places(*(getattr(self, f.name)[chosen] for f in fields(self)))

    def save(self, path: Path, key: str) -> None:
        """Write the places under a key that names what they were made of."""
        with replacing(path) as file:
            file.write(save({f.name: getattr(self, f.name) for f in fields(self)}, {"key": key}))

    @classmethod
    def load(cls, path: Path, key: str) -> Places | None:
        """What an earlier run wrote under the same key, if it is there and whole."""
        try:
            with safe_open(path, framework="np") as file:
                if (file.metadata() or {}).get("key") != key:
                    return None
                return cls(*(file.get_tensor(f.name) for f in fields(cls)))
        except (OSError, SafetensorError):
            return None


def locate(score: Score, judged: Judged, query_images: Rows, owners: Rows, what: str) -> Places:
    """Score every query against every caption of other images and find the judged pairs' places."""
    values, above, tied = _within(len(judged))
    counts = np.zeros(BINS, np.int64)
    step = max(1, BLOCK // len(owners))
    for first in progress(range(0, len(query_images), step), what):
        rows = np.arange(first, min(first + step, len(query_images)))
        part = slice(*np.searchsorted(judged.queries, [rows[0], rows[-1] + 1]))
        block = score(rows)
        values[part] = block[judged.queries[part] - first, judged.captions[part]]
        own = owners == query_images[rows][:, None]
        counts += np.bincount(_bins(block[~own]), minlength=BINS)
        block[own] = -1  # below everything: what an image has need not be mined
        _count(block, judged.queries[part] - first, values[part], above[part], tied[part])
    above_all, tied_all = _overall(values, counts)
    return Places(values, above, tied, above_all, tied_all)


def chance(judged: Judged, query_images: Rows, owners: Rows) -> Places:
    """The places of a measure that finds everything alike."""
    size = len(owners) - np.bincount(owners, minlength=int(query_images.max()) + 1)
    none, whole = np.zeros(len(judged), np.int64), np.full(len(judged), size[query_images].sum())
    return Places(none.astype(np.float32), none, size[judged.images], none, whole)


def likelihood(
    above: Counts, tied: Counts, mined: Float64[np.ndarray, " k"]
) -> Float64[np.ndarray, "pairs k"]:
    """How likely each pair is among the first `mined`: 1 above the cut, a share where it ties."""
    return np.asarray(np.clip((mined - above[:, None]) / tied[:, None], 0, 1))


def _within(pairs: int) -> tuple[Float32[np.ndarray, " _"], Counts, Counts]:
    return np.zeros(pairs, np.float32), np.zeros(pairs, np.int64), np.zeros(pairs, np.int64)


def _count(
    block: Float32[np.ndarray, "queries captions"],
    rows: Rows,
    values: Float32[np.ndarray, " _"],
    above: Counts,
    tied: Counts,
) -> None:
    """Fill in how many of a pair's row score higher than it, and how many the same."""
    for first in range(0, len(rows), len(block)):  # as much memory again as the block takes
        some = slice(first, first + len(block))
        found = block[rows[some]]
        above[some] = (found > values[some, None]).sum(axis=1)
        tied[some] = (found == values[some, None]).sum(axis=1)


def _bins(scores: Float32[np.ndarray, " _"]) -> Counts:
    """Scores as small whole numbers in the same order: the first bits of floats not negative."""
    return (np.ascontiguousarray(scores).view(np.uint32) >> DROPPED).astype(np.int64)


def _overall(values: Float32[np.ndarray, " _"], counts: Counts) -> tuple[Counts, Counts]:
    higher = counts.sum() - np.cumsum(counts)
    bins = _bins(values)
    return higher[bins], counts[bins]

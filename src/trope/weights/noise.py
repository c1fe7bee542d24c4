"""Weights by density (after Amrani et al., AAAI 2021): pairs in tight clusters of both modalities.

    s_ij = min(z_look(i, j), z_meaning(i, j))        z: a cosine, standardized over all i and j
    p_i  = s of i and its k-th nearest pair, rescaled to [0, 1] over the training pairs

Pairs that agree with others in both modalities are likely clean and count more: the opposite
emphasis of diversity. The authors have published no code. From descriptions of the paper: cosines
within each modality, standardized by mean and deviation; the k-th nearest neighbor; a weight for
each pair of the ranking loss. Ours: the smaller of the two as the similarity of pairs, k = 10, the
rescaling by smallest and largest, and the spaces, which are the frozen ones of pictures and texts:
weights are known before training and stay. They are p times `scale`; their mean is that of p.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float, Int

from trope.neighbors import Search, cached_neighbors
from trope.weights.weight import Batches, Known, PairWeight, Weights

EXACT = 20_000  # pairs up to which each is compared with all
NEAR = 200  # in each space, beyond: pairs that are alike in both are near in one
BLOCK = 2**25  # similarities at a time, or numbers they are made of

Vectors: TypeAlias = Float[np.ndarray, "n d"]
Groups: TypeAlias = Int[np.ndarray, "g n"]  # pairs with an equal number in a row are the same
Found: TypeAlias = Int[np.ndarray, "some m"]


@dataclass(frozen=True, kw_only=True)
class Density(PairWeight):
    """Pairs whose `k`-th nearest pair is near by look and by meaning count more."""

    k: int = 10

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.k < 1:
            raise ValueError(f"k must be at least 1, found {self.k}")

    @property
    def needs(self) -> frozenset[str]:
        """How densely other pairs lie around each, in both frozen spaces."""
        return frozenset({"density"})

    def weigh(self, known: Known, batches: Batches, random: np.random.Generator) -> Weights:
        """As it is, in every batch."""
        return np.asarray(self.scale * known["density"][batches])


def density(
    look: Float[np.ndarray, "n look"],
    meaning: Float[np.ndarray, "n meaning"],
    groups: Groups,
    k: int,
    exact: int = EXACT,
) -> Float[np.ndarray, " n"]:
    """p of each pair; pairs that are the same are not its neighbors.

    Beyond `exact` pairs only those are compared that are near in one of the spaces.
    """
    spaces = [_unit(look), _unit(meaning)]
    scales = [moments(space) for space in spaces]
    count = len(look)
    others = None if count <= exact else _near(spaces, groups)
    each = count if others is None else 2 * NEAR * max(space.shape[1] for space in spaces)
    found, step = np.empty(count), max(1, BLOCK // each)
    for first in range(0, count, step):
        rows = np.arange(first, min(first + step, count))
        columns = np.arange(count)[None] if others is None else others(rows)
        near = _similarities(spaces, scales, rows, columns)
        same = (groups[:, rows, None] == groups[:, columns]).any(axis=0) | (columns < 0)
        found[rows] = _kth(np.where(same, -np.inf, near), k)
    return _rescaled(found)


def moments(unit: Vectors) -> tuple[float, float]:
    """Mean and deviation of the cosines of all pairs of different rows, without making them.

    Their sum is |Σ v|², that of their squares the sum of the squares of VᵀV, both with diagonal.
    """
    count, exact = len(unit), unit.astype(np.float64)
    own = np.einsum("nd,nd->n", exact, exact)
    pairs = max(count * (count - 1), 1)
    mean = float((np.square(exact.sum(axis=0)).sum() - own.sum()) / pairs)
    square = float((np.square(exact.T @ exact).sum() - np.square(own).sum()) / pairs)
    return mean, max(square - mean**2, 0.0) ** 0.5


def _similarities(
    spaces: list[np.ndarray],
    scales: list[tuple[float, float]],
    rows: Int[np.ndarray, " some"],
    columns: Int[np.ndarray, "each m"],
) -> Float[np.ndarray, "some m"]:
    """The smaller of the standardized cosines; columns are those of each row, or of all."""
    standard = []
    for space, (mean, deviation) in zip(spaces, scales, strict=True):
        if len(columns) == 1:
            cosines = space[rows] @ space[columns[0]].T
        else:
            cosines = np.einsum("nd,nmd->nm", space[rows], space[columns])
        standard.append((cosines - mean) / max(deviation, 1e-12))
    return np.asarray(np.minimum(*standard))


def _kth(similarities: Float[np.ndarray, "some m"], k: int) -> Float[np.ndarray, " some"]:
    """The k-th largest of each row, or the smallest there is; without any, minus infinity."""
    k = min(k, similarities.shape[1])
    largest = -np.sort(-np.partition(similarities, -k, axis=1)[:, -k:], axis=1)
    there: Bool[np.ndarray, "some k"] = largest > -np.inf
    place = np.maximum(there.sum(axis=1) - 1, 0)
    return np.asarray(largest[np.arange(len(largest)), place])


def _rescaled(found: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """Between 0 and 1; 0 for a pair that has no other, 1 where all are alike."""
    alone = ~np.isfinite(found)
    if alone.all():
        return np.ones(len(found))
    low, high = found[~alone].min(), found[~alone].max()
    scaled = (found - low) / (high - low) if high > low else np.ones(len(found))
    return np.asarray(np.where(alone, 0.0, scaled))


def _near(spaces: list[np.ndarray], groups: Groups) -> Callable[[Int[np.ndarray, " some"]], Found]:
    """The nearest of each pair in either space, each once; -1 where there are fewer."""
    search = Search(min(NEAR, max(len(spaces[0]) - 1, 1)))
    tables = [
        cached_neighbors(np.asarray(space, np.float32), search, groups[0]).ids for space in spaces
    ]

    def of(rows: Int[np.ndarray, " some"]) -> Found:
        both = np.concatenate([np.asarray(table[rows]) for table in tables], axis=1)
        both.sort(axis=1)
        both[:, 1:][both[:, 1:] == both[:, :-1]] = -1
        return both

    return of


def _unit(vectors: Vectors) -> Vectors:
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(lengths > 0, lengths, 1)

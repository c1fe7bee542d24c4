"""Which rows mean alike: neighbors of texts, made neighbors of rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float32, Int

from trope.neighbors import Search, neighbors, neighbors_of, recall
from trope.neighbors.rows import Metric
from trope.spaces import Vectors

Rows: TypeAlias = Int[np.ndarray, " queries"]
Found: TypeAlias = Int[np.ndarray, "queries k"]


@dataclass(frozen=True, eq=False)
class Near:
    """The nearest rows of some rows (in ascending order), nearest first; -1 fills up.

    `texts` says which text of the neighbor it was that came near.
    """

    rows: Rows
    ids: Found
    texts: Found
    distances: Float32[np.ndarray, "queries k"]


def limited(vectors: Vectors, usable: Bool[np.ndarray, " rows"]) -> Vectors:
    """The same with zeros, which are nobody's neighbors, for the texts of rows not usable."""
    counted = usable[vectors.owners][:, None]
    return replace(vectors, values=np.where(counted, vectors.values, np.float32(0)))


def nearest_rows(vectors: Vectors, rows: Rows, k: int, metric: Metric) -> Near:
    """The rows with the nearest texts: two rows are as near as the two of their texts that are."""
    owners, parts = vectors.owners, []
    for asked, found, far in _near_texts(vectors, rows, k, metric):
        there = found >= 0
        place = np.repeat(np.searchsorted(rows, owners[asked]), there.sum(axis=1))
        parts.append((place, found[there], far[there]))
    place, texts, apart = (np.concatenate(part) for part in zip(*parts, strict=True))
    return _best(rows, place, texts, apart, owners, k)


def graph_recall(vectors: Vectors, k: int, metric: Metric, sample: int) -> tuple[float, int]:
    """How much of the exact neighbors the graph finds, measured on how many texts."""
    table = neighbors(vectors.values, Search(k, metric, "hnsw"), vectors.owners)
    filled = int(vectors.values.any(axis=1).sum())
    return recall(table, vectors.values, vectors.owners, sample=sample), min(sample, filled)


def _near_texts(
    vectors: Vectors, rows: Rows, k: int, metric: Metric
) -> Iterator[tuple[Rows, Found, Float32[np.ndarray, "queries k"]]]:
    """The nearest texts of each text of some rows: of k rows, or of all there are.

    A row with many texts near one another takes many places: who so sees too few rows asks again,
    for twice as many texts.
    """
    owners = vectors.owners
    several = int(np.bincount(owners).max(initial=1))
    asked, most = np.flatnonzero(np.isin(owners, rows)), k * min(several, 4)
    while True:
        found, far = neighbors_of(asked, vectors.values, Search(most, metric), owners)
        fine = (found[:, -1] < 0) | (_different(owners, found) >= k)
        yield asked[fine], found[fine], far[fine]
        asked, most = asked[~fine], 2 * most
        if not len(asked):
            return


def _different(owners: Int[np.ndarray, " texts"], found: Found) -> Rows:
    """How many rows the texts found belong to; -1 belongs to none."""
    rows = np.sort(np.where(found >= 0, owners[found], -1), axis=1)
    return np.asarray((np.diff(rows, axis=1, prepend=-1) > 0).sum(axis=1))


def _best(
    rows: Rows,
    place: Int[np.ndarray, " found"],
    texts: Int[np.ndarray, " found"],
    far: Float32[np.ndarray, " found"],
    owners: Int[np.ndarray, " texts"],
    k: int,
) -> Near:
    """Each neighboring row once, where it is nearest; the k nearest of each place."""
    order = np.lexsort((texts, far, place))
    place, texts, far = place[order], texts[order], far[order]
    pair = place * (int(owners.max(initial=0)) + 1) + owners[texts]
    first = np.sort(np.unique(pair, return_index=True)[1])
    place, texts, far = place[first], texts[first], far[first]
    counts = np.bincount(place, minlength=len(rows))
    rank = np.arange(len(place)) - np.repeat(np.cumsum(counts) - counts, counts)
    kept = rank < k
    where = (place[kept], rank[kept])
    width = min(k, int(counts.max(initial=0)))
    near = Near(
        rows,
        np.full((len(rows), width), -1),
        np.full((len(rows), width), -1),
        np.full((len(rows), width), np.inf, np.float32),
    )
    near.ids[where], near.texts[where] = owners[texts[kept]], texts[kept]
    near.distances[where] = far[kept]
    return near

"""What is asked and what is found: the distinct pictures and the texts of a split.

A text is right for a picture when it is one of its texts, or the same as one of them; and the other
way round. Any number of texts may belong to a picture, in any number of rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
import pyarrow.compute as pc
from jaxtyping import Int
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from trope.data.components import components
from trope.data.labels import labels_of_rows
from trope.data.pairs import Pairs
from trope.data.samples import Samples, samples
from trope.errors import DataError

MOST_RIGHT = 2**27  # entries of a matrix of what is right: about half a gigabyte

Side: TypeAlias = Literal["image", "text"]
Numbers: TypeAlias = Int[np.ndarray, " items"]
Images: TypeAlias = Int[np.ndarray, " images"]
Texts: TypeAlias = Int[np.ndarray, " texts"]


@dataclass(frozen=True, eq=False)
class Gallery:
    """Pictures in the order of the data, and their texts, those of a picture side by side.

    The texts of picture i are `starts[i]` to `starts[i + 1]`. `images` and `texts` are the numbers
    of pictures and texts among what a model is fed, `shown` is the row of the data set that a
    picture first stands in, `rows` that of a text, and `places` its place among the row's texts.
    `meaning` is equal for equal texts, `clusters` for pictures that share a group, a text, or such
    with others.
    """

    images: Images
    texts: Texts
    starts: Int[np.ndarray, " bounds"]
    shown: Images
    rows: Texts
    places: Texts
    meaning: Texts
    clusters: Images
    labels: sparse.csr_matrix | None = None
    ids: Sequence[str] = field(default=(), repr=False)  # of the rows
    words: Sequence[str] = field(default=(), repr=False)  # of all texts, by number
    label_names: tuple[str, ...] = field(default=(), repr=False)

    @cached_property
    def owners(self) -> Texts:
        """The picture of each text."""
        return np.repeat(np.arange(len(self.images)), np.diff(self.starts))

    @cached_property
    def right(self) -> sparse.csr_matrix:
        """Which texts are right for which pictures."""
        _refuse_crowds(self)
        return _right(self.owners, self.meaning, len(self.images))

    def count(self, side: Side) -> int:
        """How many pictures or texts there are."""
        return len(self.images) if side == "image" else len(self.texts)

    def clusters_of(self, side: Side) -> Numbers:
        """The component of each picture or text."""
        return self.clusters if side == "image" else self.clusters[self.owners]

    @cached_property
    def components(self) -> int:
        """How many components there are."""
        return len(np.unique(self.clusters))

    def names_of(self, side: Side) -> list[str]:
        """The ids of the rows: a picture's first, a text's own."""
        rows = self.rows if side == "text" else self.shown
        return [self.ids[row] for row in rows]

    def captions(self) -> list[str]:
        """The texts as they were written; none where they are not known."""
        return [self.words[text] for text in self.texts] if self.words else []

    def take(self, images: Images) -> Gallery:
        """Some pictures with their texts, in the given order."""
        texts = self.texts_of(images)
        counts = np.diff(self.starts)[images]
        return Gallery(
            self.images[images],
            self.texts[texts],
            np.concatenate([[0], np.cumsum(counts)]),
            self.shown[images],
            self.rows[texts],
            self.places[texts],
            self.meaning[texts],
            self.clusters[images],
            None if self.labels is None else self.labels[images],
            self.ids,
            self.words,
            self.label_names,
        )

    def texts_of(self, images: Images) -> Int[np.ndarray, " some"]:
        """The places of the texts of some pictures, one picture after the other."""
        counts = np.diff(self.starts)[images]
        ends = np.cumsum(counts)
        shift = np.repeat(self.starts[images] - (ends - counts), counts)
        return np.asarray(np.arange(counts.sum()) + shift)

    def same_as(self, other: Gallery) -> bool:
        """Whether the same pictures and texts are asked, in the same order."""
        return (
            self.names_of("image") == other.names_of("image")
            and self.names_of("text") == other.names_of("text")
            and np.array_equal(self.places, other.places)
            and np.array_equal(self.starts, other.starts)
            and (not self.words or not other.words or self.captions() == other.captions())
        )


def rows_of(pairs: Pairs, split: str) -> Int[np.ndarray, " rows"]:
    """The rows of a split; of one that has none, which splits there are."""
    column = pairs.column("split")
    rows = np.flatnonzero(np.asarray(pc.fill_null(pc.equal(column, split), False)))
    if not len(rows):
        there = sorted(name for name in pc.unique(column).to_pylist() if name)
        known = f"; there is {', '.join(there)}" if there else ""
        raise DataError(f"{pairs.source}: split '{split}' has no row{known}")
    return rows


def gallery(pairs: Pairs, pictures: Int[np.ndarray, " rows"], split: str) -> Gallery:
    """The gallery of a split; `pictures` is the number of each row's picture, -1 for none."""
    inside = rows_of(pairs, split)
    chosen = samples(pairs, pictures, split)
    texts, owners = pairs.flat_texts()
    rows = owners[chosen.texts]
    return _ordered(pairs, chosen, rows, _clusters(pairs, pictures, inside), texts.to_pylist())


def _right(owners: Texts, meaning: Texts, images: int) -> sparse.csr_matrix:
    """The texts of each picture, and their equals elsewhere."""
    _, code = np.unique(meaning, return_inverse=True)
    ones, count = np.ones(len(code), np.int32), int(code.max(initial=-1)) + 1
    said = sparse.csr_matrix((ones, (owners, code)), (images, count))
    texts = sparse.csr_matrix((ones, (code, np.arange(len(code)))), (count, len(code)))
    found = (said @ texts).astype(bool).tocsr()
    found.sort_indices()
    return found


def _refuse_crowds(gallery: Gallery) -> None:
    """A text that m pictures share is right m² times: too much for memory."""
    _, first, counts = np.unique(gallery.meaning, return_index=True, return_counts=True)
    if (counts.astype(np.float64) ** 2).sum() <= MOST_RIGHT:
        return
    most = int(counts.argmax())
    row = gallery.names_of("text")[first[most]]
    raise DataError(
        f"row '{row}': its text stands {counts[most]:,} times in the split, each right for every "
        "picture that has it; leave out texts that so many pictures share"
    )


def _ordered(
    pairs: Pairs, chosen: Samples, rows: Texts, clusters: Int[np.ndarray, " rows"], words: list[str]
) -> Gallery:
    """Pictures as they first appear, texts beside their picture."""
    found, first, owner = np.unique(chosen.images, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    owner = place[owner]
    texts = np.argsort(owner, kind="stable")
    rows = rows[texts]
    before = np.concatenate([[0], np.cumsum(pairs.text_counts)])[:-1]
    starts = np.searchsorted(owner[texts], np.arange(len(found) + 1))
    labels, names = _labels(pairs, rows, owner[texts])
    return Gallery(
        found[order],
        chosen.texts[texts],
        starts,
        rows[starts[:-1]],
        rows,
        chosen.texts[texts] - before[rows],
        chosen.meaning[texts],
        clusters[rows[starts[:-1]]],
        labels,
        pairs.ids,
        words,
        names,
    )


def _clusters(
    pairs: Pairs, pictures: Int[np.ndarray, " rows"], rows: Int[np.ndarray, " inside"]
) -> Int[np.ndarray, " rows"]:
    """Components of the rows of a split, equal pictures under other names included; -1 outside."""
    linked = components(pairs.take(rows))
    count = int(linked.max(initial=-1)) + 1
    seen, picture = np.unique(pictures[rows], return_inverse=True)
    there = pictures[rows] >= 0
    nodes = count + len(seen)
    links = (np.ones(there.sum(), np.int8), (linked[there], count + picture[there]))
    graph = sparse.coo_array(links, shape=(nodes, nodes))
    joined = connected_components(graph, directed=False)[1]
    clusters = np.full(len(pairs), -1)
    clusters[rows] = np.unique(joined[linked], return_inverse=True)[1]
    return clusters


def _labels(
    pairs: Pairs, rows: Texts, owners: Texts
) -> tuple[sparse.csr_matrix | None, tuple[str, ...]]:
    """The labels of each picture: of all rows that show it, together; None where nobody has any."""
    by_row, names = labels_of_rows(pairs)
    shown = (np.ones(len(rows), np.int32), (owners, rows))
    found = sparse.csr_matrix(shown, (int(owners.max(initial=-1)) + 1, len(pairs))) @ by_row
    if not found.nnz:
        return None, ()
    found.data[:] = 1
    used = np.flatnonzero(found.getnnz(axis=0))
    found = found[:, used].tocsr()
    found.sort_indices()
    return found, tuple(names[column] for column in used)


__all__ = ["Gallery", "Side", "gallery", "rows_of"]

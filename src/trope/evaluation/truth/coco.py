"""COCO's numbers of images and captions, and judgments by these numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Int
from scipy import sparse

from trope.data.pairs import Pairs
from trope.errors import DataError
from trope.evaluation.gallery import Gallery, Side

Listed: TypeAlias = Mapping[int, list[int]]


@dataclass(frozen=True)
class Judgments:
    """By COCO's numbers: the right captions of images, and the right images of captions."""

    image: Listed = field(repr=False)
    text: Listed = field(repr=False)


@dataclass(frozen=True, eq=False)
class Placed:
    """Judgments of a gallery: right texts of pictures, right pictures of texts."""

    image: sparse.csr_matrix
    text: sparse.csr_matrix
    judged: tuple[int, int]  # images and captions, here or not

    def of(self, side: Side) -> sparse.csr_matrix:
        """What is right for the queries of one side."""
        return self.image if side == "image" else self.text

    def told(self) -> str:
        """How many of the judged queries are here."""
        images, texts = (int((np.diff(m.indptr) > 0).sum()) for m in (self.image, self.text))
        return (
            f"{images:,} of {self.judged[0]:,} judged images "
            f"and {texts:,} of {self.judged[1]:,} judged captions are in the data"
        )


@dataclass(frozen=True, eq=False)
class Numbered:
    """COCO's number of each picture and of each text of a gallery."""

    images: Int[np.ndarray, " images"]
    texts: Int[np.ndarray, " texts"]

    def placed(self, judgments: Judgments) -> Placed:
        """Judgments by place in the gallery; what is not here is left out."""
        image = _matrix(judgments.image, self.images, self.texts)
        text = _matrix(judgments.text, self.texts, self.images)
        if not image.nnz and not text.nnz:
            raise DataError("--truth: none of the judged images and captions is in the data")
        return Placed(image, text, (len(judgments.image), len(judgments.text)))


def is_coco(pairs: Pairs) -> bool:
    """Whether rows have COCO's numbers of captions."""
    return "caption_ids" in pairs.table.column_names


def numbered(gallery: Gallery, pairs: Pairs) -> Numbered:
    """The numbers of a gallery's pictures and texts, from the ids of their rows."""
    rows, place = np.unique(gallery.rows, return_inverse=True)
    asked = pairs.take(rows)
    _refuse_gaps(asked)
    try:
        ids = np.asarray(pc.cast(asked.column("id"), pa.int64()), np.int64)
        column = asked.column("caption_ids")
        counts = np.asarray(pc.list_value_length(column), np.int64)
        captions = np.asarray(pc.cast(pc.list_flatten(column), pa.int64()), np.int64)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        why = str(error).splitlines()[0]
        raise DataError(f"{pairs.source}: --truth needs COCO's numbers as ids ({why})") from None
    wrong = np.flatnonzero(counts != asked.text_counts)
    if len(wrong):
        where = asked.place(int(wrong[0]))
        raise DataError(f"{pairs.source}: {where}: caption_ids and texts do not go together")
    before = np.cumsum(counts) - counts
    images = ids[np.searchsorted(rows, gallery.shown)]
    return Numbered(images, captions[before[place] + gallery.places])


def _refuse_gaps(pairs: Pairs) -> None:
    """Every text that is asked must have its number."""
    for row, numbers in enumerate(pairs.column("caption_ids").to_pylist()):
        if numbers is None or (isinstance(numbers, list) and None in numbers):
            where = f"row '{pairs.ids[row]}' ({pairs.place(row)})"
            raise DataError(
                f"{pairs.source}: {where} has no caption_ids, or one is missing; --truth needs "
                "COCO's number of every caption of the split"
            )


def _matrix(
    listed: Listed, queries: Int[np.ndarray, " queries"], items: Int[np.ndarray, " items"]
) -> sparse.csr_matrix:
    """Which items are right for which queries, by place."""
    place = {int(number): i for i, number in enumerate(items)}
    found = [
        (i, place[item])
        for i, query in enumerate(queries)
        for item in listed.get(int(query), ())
        if item in place
    ]
    rows, columns = np.array(found, np.int64).reshape(-1, 2).T
    ones = np.ones(len(rows), bool)
    made = sparse.csr_matrix((ones, (rows, columns)), (len(queries), len(items)), dtype=bool)
    made.sort_indices()
    return made

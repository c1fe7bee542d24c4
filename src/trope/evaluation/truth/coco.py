"""COCO's numbers of images and captions, and judgments by these numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias, cast

import numpy as np
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
    ids = np.array([_image_number(asked, row) for row in range(len(asked))], np.int64)
    captions = list(_caption_numbers(asked))
    _refuse_repeated(asked, captions)
    counts = asked.text_counts
    before = np.cumsum(counts) - counts
    images = ids[np.searchsorted(rows, gallery.shown)]
    flat = np.array([number for numbers in captions for number in numbers], np.int64)
    return Numbered(images, flat[before[place] + gallery.places])


def _image_number(pairs: Pairs, row: int) -> int:
    if (number := _number(pairs.ids[row])) is None:
        raise DataError(f"{_where(pairs, row)}: the id is no number of COCO, which --truth needs")
    return number


def _caption_numbers(pairs: Pairs) -> Iterator[list[int]]:
    """The numbers of each row's texts: every text that is asked must have its own."""
    rows = zip(pairs.column("caption_ids").to_pylist(), pairs.text_counts.tolist(), strict=True)
    for row, (given, texts) in enumerate(rows):
        listed = given if isinstance(given, list) else [given]
        if None in listed:
            raise DataError(
                f"{_where(pairs, row)} has no caption_ids, or one is missing; --truth needs COCO's "
                "number of every caption of the split"
            )
        numbers = [number for number in map(_number, listed) if number is not None]
        if not isinstance(given, list) or len(numbers) < len(given):
            wanted = "caption_ids must be a list of COCO's numbers"
            raise DataError(f"{_where(pairs, row)}: {wanted}, found {given!r}")
        if len(given) != texts:
            raise DataError(f"{_where(pairs, row)}: caption_ids and texts do not go together")
        yield numbers


def _refuse_repeated(pairs: Pairs, captions: Sequence[Sequence[int]]) -> None:
    """A caption is of one row, and once: judgments would count for one text alone."""
    seen: dict[int, int] = {}
    for row, numbers in enumerate(captions):
        for number in numbers:
            if number in seen:
                first = f"row '{pairs.ids[seen[number]]}' ({pairs.place(seen[number])})"
                raise DataError(
                    f"{_where(pairs, row)}: caption_ids: {number} stands in {first} already"
                )
            seen[number] = row


def _number(value: object) -> int | None:
    """A whole number, or one that is written as a text."""
    if isinstance(value, str) and value.isascii() and value.isdigit():
        value = int(value)
    whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**63
    return cast(int, value) if whole else None


def _where(pairs: Pairs, row: int) -> str:
    return f"{pairs.source}: row '{pairs.ids[row]}' ({pairs.place(row)})"


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

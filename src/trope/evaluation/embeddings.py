"""Vectors of any other model, from files: put through the same protocols.

One `.safetensors` or `.npz` file with the arrays `image` (n d) and `text` (m d), or (n k d) for k
senses of an item; or two `.npy` files, pictures first. Vectors are scaled to length one.

Without a data set text i belongs to picture i, or to picture `owners[i]`, an array of the file.
With one, vectors are those of its rows in order: a picture for each row of the split that has a
picture and a text, and all texts of these rows; or, by name, of the rows `image_ids` and
`text_ids`, which a `.safetensors` file holds in its metadata as JSON lists. `train_image` and
`train_text` are training queries, which tell hubs. `image_labels` (n l) and `text_labels` (m l)
are scores of predicted labels, whose names are in `labels`, a list like the ids.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
from jaxtyping import Float, Int, Shaped

from trope.data.identity import image_codes
from trope.data.pairs import Pairs
from trope.errors import DataError, UsageError
from trope.evaluation.embedded import Bank, Embedded
from trope.evaluation.gallery import Gallery, gallery
from trope.evaluation.left_out import left_out
from trope.evaluation.measuring import refuse_tiny
from trope.evaluation.predictions import Predicted
from trope.evaluation.vectors import PREDICTED, SIDES, Arrays
from trope.metrics.predictions import THRESHOLD
from trope.spaces import Doc2Vec, Sentence
from trope.wording import counted


@dataclass(frozen=True, eq=False)
class FileSource:
    """Vectors from files, of a data set or of their own."""

    arrays: Arrays
    pairs: Pairs | None = None
    pictures: Int[np.ndarray, " rows"] | None = None  # of a run with the same queries
    digests: Shaped[np.ndarray, " rows"] | None = None
    has_space: ClassVar[bool] = False
    threshold: ClassVar[float] = THRESHOLD

    def __post_init__(self) -> None:
        if self.pairs is not None and "owners" in self.arrays.numbers:
            raise UsageError(
                f"{self.arrays.path}: 'owners' goes without --data, which says what belongs to what"
            )

    def embedded(self, split: str) -> Embedded:
        """The vectors of a split of the data, or all there are."""
        if self.pairs is None:
            found = _plain(self.arrays)
            refuse_tiny(found, str(self.arrays.path))
            images, texts = found.images, found.texts
            remarks: tuple[str, ...] = ()
        else:
            found = gallery(self.pairs, self.codes, split)
            images, texts = self._places(found, split)
            remarks = left_out(self.pairs, self.codes, split)
        image, text = map(self.arrays.encoded, SIDES, (images, texts))
        return Embedded(found, image, text, self._guessed(images, texts), remarks)

    def _guessed(
        self, images: Int[np.ndarray, " images"], texts: Int[np.ndarray, " texts"]
    ) -> Predicted | None:
        """The labels that the file predicts."""
        if not self.arrays.labels:
            return None
        scores = [self.arrays.numbers[name].astype(np.float32) for name in PREDICTED]
        return Predicted(tuple(self.arrays.labels), scores[0][images], scores[1][texts])

    @cached_property
    def codes(self) -> Int[np.ndarray, " rows"]:
        """A number for each row's picture: by content where files are there, else by path.

        -1 for a row without one; where no row has one, each has a picture of its own.
        """
        assert self.pairs is not None
        if self.pictures is not None:
            return self.pictures
        known = image_codes(self.pairs, self.digests)
        return known if (known >= 0).any() else np.arange(len(self.pairs))

    def bank(self) -> Bank | None:
        """Training queries, where the file holds some."""
        if {"train_image", "train_text"} - self.arrays.numbers.keys():
            return None
        return Bank(*(self.arrays.encoded(f"train_{side}") for side in SIDES))

    def validation(self) -> None:
        """Files hold one split."""

    def training(self) -> None:
        """Files hold one split; of others at most vectors, without what belongs together."""

    def space(self, asked: str) -> str:
        """Files have no space of their own."""
        return asked

    def meaning(self, space: str) -> Float[np.ndarray, "texts d"]:
        """Vectors of the data's texts in a space that was named."""
        assert self.pairs is not None
        made = Sentence() if space == "sentence" else Doc2Vec()
        return made.vectors(self.pairs).values

    def _places(
        self, found: Gallery, split: str
    ) -> tuple[Int[np.ndarray, " images"], Int[np.ndarray, " texts"]]:
        """Where in the file the vectors of a gallery are."""
        assert self.pairs is not None
        if not self.arrays.ids:
            return self._in_order(found, split)
        self._refuse_strangers(self.pairs)
        rows = {name: i for i, name in enumerate(self.arrays.ids["image"])}
        texts: dict[str, list[int]] = defaultdict(list)
        for i, name in enumerate(self.arrays.ids["text"]):
            texts[name].append(i)
        images = [self._place(rows, name) for name in found.names_of("image")]
        names = zip(found.names_of("text"), found.places, strict=True)
        said = [self._text(texts, name, int(place)) for name, place in names]
        return np.array(images, np.int64), np.array(said, np.int64)

    def _in_order(
        self, found: Gallery, split: str
    ) -> tuple[Int[np.ndarray, " images"], Int[np.ndarray, " texts"]]:
        rows, order = np.unique(found.rows), np.argsort(found.texts, kind="stable")
        for side, wanted, what in (
            ("image", len(rows), f"rows of split '{split}' that have a picture and a text"),
            ("text", len(order), f"texts of split '{split}', of rows that have a picture"),
        ):
            there = len(self.arrays.numbers[side])
            if there != wanted:
                raise DataError(
                    f"{self.arrays.file(side)}: {there:,} vectors '{side}' for {wanted:,} {what}; "
                    "write one for each, in their order, or name them by image_ids and text_ids"
                )
        texts = np.empty(len(order), np.int64)
        texts[order] = np.arange(len(order))
        return np.searchsorted(rows, found.shown), texts

    def _refuse_strangers(self, pairs: Pairs) -> None:
        """Names must be those of rows of the data, of texts no more than a row has."""
        most = dict(zip(pairs.ids, pairs.text_counts.tolist(), strict=True))
        for side in SIDES:
            for name, times in Counter(self.arrays.ids[side]).items():
                where = f"{self.arrays.path}: {side}_ids: '{name}'"
                if name not in most:
                    raise DataError(f"{where} is no row of {pairs.source}")
                if side == "text" and times > most[name]:
                    has = counted(most[name], "text")
                    raise DataError(f"{where} stands there {times} times, but the row has {has}")

    def _place(self, rows: Mapping[str, int], name: str) -> int:
        if name not in rows:
            raise DataError(f"{self.arrays.path}: no vector of the image of row '{name}'")
        return rows[name]

    def _text(self, texts: Mapping[str, list[int]], name: str, place: int) -> int:
        known = texts.get(name, [])
        if place >= len(known):
            raise DataError(f"{self.arrays.path}: no vector of text {place + 1} of row '{name}'")
        return known[place]


def _plain(arrays: Arrays) -> Gallery:
    """A gallery without a data set: who belongs to whom is in the file."""
    images, texts = (len(arrays.numbers[side]) for side in SIDES)
    owners = arrays.numbers.get("owners")
    if owners is None:
        if images != texts:
            there = f"{counted(images, 'picture')} and {counted(texts, 'text')}"
            raise DataError(
                f"{arrays.path}: {there}; which text belongs to which picture? Add an array "
                "'owners', or name the data with --data"
            )
        owners = np.arange(images)
    if owners.shape != (texts,) or owners.dtype.kind not in "iu":
        raise DataError(f"{arrays.path}: 'owners' must be the row of 'image' for each text")
    if len(strange := np.flatnonzero((owners < 0) | (owners >= images))):
        row, last = int(strange[0]), images - 1
        raise DataError(f"{arrays.path}: owners[{row}] is {owners[row]}; pictures are 0 to {last}")
    order = np.argsort(owners, kind="stable")
    starts = np.searchsorted(owners[order], np.arange(images + 1))
    rows = owners[order].astype(np.int64)
    ids = [*map(str, arrays.ids["image"])] if arrays.ids else [*map(str, range(images))]
    numbers = np.arange(images)
    places = np.arange(texts) - starts[rows]
    return Gallery(numbers, order, starts, numbers, rows, places, order, numbers, None, ids)

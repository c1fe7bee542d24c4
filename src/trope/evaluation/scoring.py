"""Scores of some queries with every item, in tiles that do not depend on who asks for how many."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
import torch
from jaxtyping import Float, Float32, Int
from torch import Tensor

from trope.compiled import compiled, spread
from trope.encoders import compare
from trope.encoders.scorers.comparing import Comparing
from trope.errors import DataError
from trope.evaluation.gallery import Side
from trope.evaluation.hubs import Correction
from trope.similarity import similarity
from trope.views import Encoded

TILE = 2**22  # products of a tile, if its rows are not too few or too many then
FEWEST, MOST = 64, 1_024
CHECKED = 4_096  # vectors looked at together
SQUARE = 64  # scores turned together
KEPT = 2**27  # scores that are kept for the other direction: half a gigabyte

Rows: TypeAlias = Int[np.ndarray, " rows"]
Block: TypeAlias = Float32[np.ndarray, "rows items"]


class Similarities:
    """How alike all pictures and texts are, computed once for both directions where they fit.

    A product of matrices may round differently with other sizes. So queries are multiplied in the
    same tiles whatever the size of a block is: it holds a number of whole tiles. A model that
    compares items itself does so tile by tile too, with `TILE` numbers held at a time, unless a
    single query needs more or it has blocks of its own.
    """

    def __init__(self, image: Encoded, text: Encoded, scorer: Comparing | None = None) -> None:
        self.image, self.text, self.scorer = image, text, scorer
        self.kept: Float32[np.ndarray, "images texts"] | None = None
        self.done = 0  # pictures whose scores are kept
        if len(image.mean) * len(text.mean) <= KEPT:
            self.kept = np.empty((len(image.mean), len(text.mean)), np.float32)

    def tile(self, side: Side) -> int:
        """Queries of a tile: fewer where a couple of items takes more room."""
        rows = TILE // max(1, self._items(side) * self._room)
        return max(1, min(MOST, max(rows, FEWEST // self._room)))

    def rows(self, side: Side, rows: Rows) -> Block:
        """The scores of consecutive queries of one side, from the first of a tile on."""
        if self.kept is None:
            return self._computed(side, rows)
        if not len(rows):
            return np.empty((0, self._items(side)), np.float32)
        first, last = int(rows[0]), int(rows[-1]) + 1
        self._fill(last if side == "image" else len(self.kept))
        if side == "image":
            return self.kept[first:last]
        return turned(self.kept[:, first:last])

    @property
    def _room(self) -> int:
        """Numbers held for a couple: products of all senses, or what the model needs."""
        if self.scorer is not None:
            return self.scorer.room
        return _senses(self.image) * _senses(self.text)

    def _items(self, side: Side) -> int:
        return len(self.text.mean) if side == "image" else len(self.image.mean)

    def _fill(self, until: int) -> None:
        """Keep the scores of pictures up to this one, tile by tile."""
        assert self.kept is not None
        step = self.tile("image") if self.scorer is not None else MOST // self._room or 1
        while self.done < until:
            part = np.arange(self.done, min(self.done + step, len(self.kept)))
            self._write("image", part, self.kept[self.done : self.done + len(part)])
            self.done += len(part)

    def _computed(self, side: Side, rows: Rows) -> Block:
        out = np.empty((len(rows), self._items(side)), np.float32)
        step = self.tile(side)
        for start in range(0, len(rows), step):
            part = rows[start : start + step]
            self._write(side, part, out[start : start + len(part)])
        return out

    @torch.no_grad()
    def _write(self, side: Side, rows: Rows, out: Block) -> None:
        """The product of some queries with all items, in place where their numbers allow it."""
        queries, items = (self.image, self.text) if side == "image" else (self.text, self.image)
        if self.scorer is not None:
            out[:] = seen_from(side, some(queries, rows), items, self.scorer).float().cpu().numpy()
            return
        plain = items.mean.dtype == torch.float32 and items.mean.device.type == "cpu"
        place = torch.from_numpy(out) if plain else None
        found = similarity(some(queries, rows), items, out=place)
        if place is None:
            out[:] = found.float().cpu().numpy()


@dataclass(frozen=True, eq=False)
class Scores:
    """The scores of one direction, corrected for hubs if so asked."""

    similarities: Similarities = field(repr=False)
    side: Side
    correction: Correction | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """How many queries and items there are."""
        sizes = len(self.similarities.image.mean), len(self.similarities.text.mean)
        return sizes if self.side == "image" else sizes[::-1]

    def blocks(self, most: int) -> Iterator[Rows]:
        """The numbers of the queries in blocks, up to so many queries if it can.

        Of whole tiles, where the scores are not kept.
        """
        tile = 1 if self.similarities.kept is not None else self.similarities.tile(self.side)
        step = max(1, most // tile) * tile
        for start in range(0, self.shape[0], step):
            yield np.arange(start, min(start + step, self.shape[0]))

    def __call__(self, rows: Rows) -> Block:
        """The scores of a block of queries."""
        found = self.similarities.rows(self.side, rows)
        return found if self.correction is None else self.correction(found)


def seen_from(
    side: Side, queries: Encoded, items: Encoded, scorer: Comparing | None
) -> Float[Tensor, "queries items"]:
    """Queries of one side with items of the other, as the model compares them."""
    if side == "image":
        return compare(scorer, queries, items)
    return compare(scorer, items, queries).T


def similarities(
    image: Encoded, text: Encoded, scorer: Comparing | None = None
) -> Float32[np.ndarray, "images texts"]:
    """All of them at once, in tiles."""
    found = Similarities(image, text, scorer)
    return found.rows("image", np.arange(len(image.mean)))


def some(encoded: Encoded, rows: Rows) -> Encoded:
    """Chosen items, by number."""
    return encoded.take(torch.from_numpy(np.asarray(rows, np.int64)).to(encoded.mean.device))


def turned(scores: Block) -> Float32[np.ndarray, "items rows"]:
    """Rows for columns, in squares that stay in the cache."""
    rows, items = len(scores), scores.shape[1]
    out = np.empty((items, rows), np.float32)
    spread(items, rows, lambda first, last: _turn(scores, out, first, last))
    return out


@compiled
def _turn(scores: np.ndarray, out: np.ndarray, first: int, last: int) -> None:
    for row in range(0, len(scores), SQUARE):
        for column in range(first, last, SQUARE):
            source = scores[row : row + SQUARE, column : min(column + SQUARE, last)]
            target = out[column : min(column + SQUARE, last), row : row + SQUARE]
            for j in range(source.shape[1]):
                for i in range(source.shape[0]):
                    target[j, i] = source[i, j]


def refuse_strange(encoded: Encoded, names: Sequence[str], what: str) -> None:
    """A vector that is not all numbers would win or lose every comparison."""
    for values in (encoded.mean, encoded.points, encoded.log_sigma):
        if values is None:
            continue
        for start in range(0, len(values), CHECKED):
            fine = torch.isfinite(values[start : start + CHECKED]).flatten(1).all(dim=1)
            if not fine.all():
                name = names[start + int((~fine).nonzero()[0])]
                raise DataError(
                    f"the model gives {what} '{name}' a vector with a value that is no finite "
                    "number: it overflows, or the features it is fed hold such a value"
                )


def _senses(encoded: Encoded) -> int:
    return 1 if encoded.points is None else encoded.points.shape[1]

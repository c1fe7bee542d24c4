"""Decoded pictures of rows, batch by batch, in order, by worker processes or in this one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from trope.data.decoders import Decoders, Failures, Flips, Pixels, Rows, decode_rows
from trope.data.images import SIZE
from trope.data.stores import ImageStore
from trope.errors import DataError
from trope.runtime import cores, generator

MOST_WORKERS = 8  # unless told otherwise: each holds a few batches in memory


class ImageBatch(NamedTuple):
    """Rows and their pixels; `failed` are the rows that had to be left out, each with a reason."""

    rows: Rows
    pixels: Pixels
    failed: list[tuple[int, str]]


@dataclass(frozen=True, eq=False)
class ImageBatches:
    """The pictures of `rows` as batches of 8-bit RGB; iterate once per epoch.

    With `flip`, half of the pictures are mirrored; which ones depends on seed, epoch and row alone.
    A picture that cannot be decoded is reported in its batch, or refused with an error. Without
    `workers` there are as many as cores, up to eight, and none where one batch is all the work.
    """

    store: ImageStore
    rows: Rows
    size: int = SIZE
    batch: int = 64
    workers: int | None = None
    flip: bool = False
    seed: int = 0
    epoch: int = 0
    broken: Literal["report", "refuse"] = "report"

    def __post_init__(self) -> None:
        for name, least in (("size", 1), ("batch", 1), ("workers", 0)):
            if getattr(self, name) is not None and getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, found {getattr(self, name)}")
        if self.broken not in ("report", "refuse"):
            raise ValueError(f"broken must be 'report' or 'refuse', found {self.broken!r}")

    def __len__(self) -> int:
        return -(-len(self.rows) // self.batch)

    def __iter__(self) -> Iterator[ImageBatch]:
        flips = flipped(self.rows, self.seed, self.epoch) & self.flip
        workers = (
            min(cores(), MOST_WORKERS, len(self) - 1) if self.workers is None else self.workers
        )
        decoded = self._by_workers(flips, workers) if workers > 0 else self._here(flips)
        for number, (pixels, failed) in enumerate(decoded):
            yield self._batch(self._part(number), pixels, failed)

    def _part(self, number: int) -> Rows:
        return self.rows[number * self.batch : (number + 1) * self.batch]

    def _by_workers(self, flips: Flips, workers: int) -> Iterator[tuple[Pixels, Failures]]:
        wanted = min(workers, len(self))
        if not wanted:
            return
        with Decoders(self.store, self.rows, flips, self.size, self.batch, wanted) as decoders:
            yield from decoders

    def _here(self, flips: Flips) -> Iterator[tuple[Pixels, Failures]]:
        for number in range(len(self)):
            rows = self._part(number)
            pixels = np.empty((len(rows), self.size, self.size, 3), np.uint8)
            start = number * self.batch
            yield pixels, decode_rows(self.store, rows, flips[start : start + len(rows)], pixels)

    def _batch(self, rows: Rows, pixels: Pixels, failed: Failures) -> ImageBatch:
        if not failed:
            return ImageBatch(rows, pixels, [])
        if self.broken == "refuse":
            raise DataError(failed[0][1])
        good = np.ones(len(rows), bool)
        good[[place for place, _ in failed]] = False
        return ImageBatch(rows[good], pixels[good], [(int(rows[i]), why) for i, why in failed])


def flipped(rows: Rows, seed: int, epoch: int) -> Flips:
    """Which rows are mirrored in an epoch, whatever their order or batch."""
    key = generator(seed, "flip", str(epoch)).integers(2**64, dtype=np.uint64)
    mixed = rows.astype(np.uint64) ^ key
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):  # splitmix64
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(mixed >> np.uint64(63) == 1)

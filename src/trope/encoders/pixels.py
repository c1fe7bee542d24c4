"""Pictures as pixels, decoded by worker processes ahead of the network that is trained on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Int

from trope.data.loading import ImageBatches
from trope.data.stores import ImageStore
from trope.encoders.inputs import Items, Tensors


@dataclass(frozen=True, eq=False)
class Pixels:
    """Distinct pictures by number; `rows` is a row of the data set that shows each.

    In training half of them are mirrored, which ones depends on seed, epoch and row alone. A
    picture that cannot be decoded is refused: `trope check --fix` leaves such rows out.
    """

    store: ImageStore
    rows: Int[np.ndarray, " pictures"]
    size: int
    flip: bool
    seed: int
    workers: int | None = None

    def __len__(self) -> int:
        return len(self.rows)

    def batches(self, chosen: Iterable[Items], epoch: int | None) -> Iterator[Tensors]:
        """8-bit RGB values of each choice of pictures, decoded while the earlier ones are used."""
        parts = [np.asarray(items) for items in chosen]
        if not parts:
            return
        rows = self.rows[np.concatenate(parts)]
        batches = ImageBatches(
            self.store,
            rows,
            self.size,
            batch=max(len(part) for part in parts),
            workers=self.workers,
            flip=self.flip and epoch is not None,
            seed=self.seed,
            epoch=epoch or 0,
            broken="refuse",
        )
        pixels = (torch.from_numpy(batch.pixels) for batch in batches)
        yield from _recut(pixels, [len(part) for part in parts])


def _recut(blocks: Iterator[torch.Tensor], sizes: list[int]) -> Iterator[Tensors]:
    """The same rows in parts of the wanted sizes; equal sizes are passed on as they come."""
    held: list[torch.Tensor] = []
    for size in sizes:
        while sum(map(len, held)) < size:
            held.append(next(blocks))
        joined = held[0] if len(held) == 1 else torch.cat(held)
        yield (joined[:size],)
        held = [joined[size:]] if len(joined) > size else []

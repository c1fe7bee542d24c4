"""Features of a data set's pictures: arrays on disk, and where each row's picture is in them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Int, Shaped

Positions = Int[np.ndarray, " positions"]
Values = Shaped[np.ndarray, "positions ..."]


@dataclass(frozen=True)
class FeatureTable:
    """Distinct pictures have positions; `rows` gives each row's, -1 where there is no picture.

    `failed` names the rows whose picture could not be used, each with a reason; `remarks` is what
    there is to say about the whole. With `average`, an item is the mean over its regions.
    """

    rows: Int[np.ndarray, " rows"]
    parts: tuple[np.ndarray, ...] = field(repr=False)
    part: Int[np.ndarray, " images"] = field(repr=False)
    offset: Int[np.ndarray, " images"] = field(repr=False)
    failed: tuple[tuple[int, str], ...] = field(default=(), repr=False)
    remarks: tuple[str, ...] = ()
    average: bool = False

    def __len__(self) -> int:
        return len(self.part)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of one picture's features."""
        return self.parts[0].shape[2 if self.average else 1 :]

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The type of the values."""
        stored = self.parts[0].dtype
        return np.dtype(np.float32) if self.average and stored.kind != "f" else stored

    def read(self, positions: Positions) -> Values:
        """The features at positions, in their order, as an array of its own."""
        positions = np.asarray(positions, dtype=np.int64)
        if len(positions) and not 0 <= positions.min() <= positions.max() < len(self):
            raise IndexError("a position without features: take rows whose position is not -1")
        values = np.empty((len(positions), *self.shape), self.dtype)
        owners, offsets = self.part[positions], self.offset[positions]
        for owner in np.unique(owners):
            mine = owners == owner
            found = self.parts[owner][offsets[mine]]
            values[mine] = found.mean(axis=1) if self.average else found
        return values

    def all(self) -> Values:
        """The features of all distinct pictures, by position."""
        return self.read(np.arange(len(self)))

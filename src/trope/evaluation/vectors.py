"""What files of vectors hold, by name; and their vectors at length one, however large they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
from jaxtyping import Float, Float32, Int

from trope.errors import DataError
from trope.maths import normalize
from trope.views import Encoded

SIDES = ("image", "text")
PREDICTED = ("image_labels", "text_labels")
BANK = ("train_image", "train_text")
Vectors: TypeAlias = Float32[np.ndarray, "rows ..."]

CHECKED = 4_096  # vectors looked at together


@dataclass(frozen=True, eq=False)
class Arrays:
    """What files of vectors hold: numbers by name, names of rows, and names of predicted labels.

    `files` has the file of an array where each has its own.
    """

    path: Path
    numbers: Mapping[str, np.ndarray]
    ids: Mapping[str, Sequence[str]]
    labels: Sequence[str] = ()
    files: Mapping[str, Path] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.numbers["image"])

    @property
    def senses(self) -> bool:
        """Whether items have several vectors; those of a side that has one are then one sense."""
        return any(self.numbers[name].ndim == 3 for name in (*SIDES, *BANK) if name in self.numbers)

    def encoded(self, name: str, rows: Int[np.ndarray, " rows"] | None = None) -> Encoded:
        """The vectors of a name, or some of them, at length one."""
        chosen = np.arange(len(self.numbers[name])) if rows is None else rows
        scaled = normalize(torch.from_numpy(self._near_one(name, chosen)))
        if not self.senses:
            return Encoded(scaled)
        points = scaled if scaled.ndim == 3 else scaled[:, None]
        return Encoded(normalize(points.mean(1)), points)

    def file(self, name: str) -> Path:
        """The file that an array is in."""
        return self.files.get(name, self.path)

    def _near_one(self, name: str, rows: Int[np.ndarray, " rows"]) -> Vectors:
        """Each vector times a power of two, so that none is too large or too small for 32 bits."""
        values = self.numbers[name]
        found = np.empty((len(rows), *values.shape[1:]), np.float32)
        for start in range(0, len(rows), CHECKED):
            some = rows[start : start + CHECKED]
            part = values[some].astype(np.promote_types(values.dtype, np.float32), copy=False)
            largest = np.abs(part).max(axis=-1)
            self._refuse_without_direction(name, some, largest)
            found[start : start + len(some)] = np.ldexp(part, -np.frexp(largest)[1][..., None])
        return found

    def _refuse_without_direction(
        self, name: str, rows: Int[np.ndarray, " rows"], largest: Float[np.ndarray, "rows ..."]
    ) -> None:
        for wrong, why in (
            (~np.isfinite(largest), "holds a value that is no finite number"),
            (largest == 0, "is all zeros, which has no direction and so no cosine"),
        ):
            if wrong.any():
                first, *sense = np.argwhere(wrong)[0]
                place = "][".join(map(str, [rows[first], *sense]))
                raise DataError(f"{self.file(name)}: vector {name}[{place}] {why}")

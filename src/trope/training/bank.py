"""Where all training pairs lay when they were last trained on: a file, mapped into memory.

A step writes the points of its batch; nothing is read before the epoch ends. A run that is killed
and goes on from an earlier step therefore writes the same points once more, and finds the bank at
the end of the epoch as if nothing had happened: the file need not be saved with the state, only
brought to disk before it.
"""

from __future__ import annotations

from pathlib import Path
from typing import TypeAlias

import numpy as np
import torch
from jaxtyping import Float, Int

from trope.errors import DataError
from trope.views import Encoded

FILE = "bank.npy"

Points: TypeAlias = Float[np.ndarray, "2 n k d"]


class Bank:
    """Points of images, then of texts, of all pairs; k senses each, or one: the senses' mean."""

    def __init__(self, folder: Path, shape: tuple[int, int, int, int], fresh: bool) -> None:
        self.path, self.shape = folder / FILE, shape
        self.points: Points = self._made() if fresh else self._found()

    def write(self, rows: Int[np.ndarray, " b"], image: Encoded, text: Encoded) -> None:
        """Where these pairs are now."""
        for side, encoded in enumerate((image, text)):
            self.points[side, rows] = self._kept(encoded)

    def flush(self) -> None:
        """To the disk, before a state that counts on it."""
        if isinstance(self.points, np.memmap):
            self.points.flush()

    @torch.no_grad()
    def _kept(self, encoded: Encoded) -> Float[np.ndarray, "b k d"]:
        points = encoded.mean[:, None] if encoded.points is None else encoded.points
        if points.shape[1] > self.shape[2]:
            points = points.mean(dim=1, keepdim=True)
        return points.float().cpu().numpy()

    def _made(self) -> Points:
        return np.lib.format.open_memmap(self.path, "w+", np.float32, self.shape)

    def _found(self) -> Points:
        try:
            points = np.lib.format.open_memmap(self.path, "r+")
        except (OSError, ValueError) as error:
            raise DataError(
                f"{self.path}: gone or damaged, the run cannot go on ({error})"
            ) from None
        if points.shape != self.shape or points.dtype != np.float32:
            raise DataError(f"{self.path}: has shape {points.shape}, the run needs {self.shape}")
        return points

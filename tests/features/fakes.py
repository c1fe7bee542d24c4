"""A backbone that needs no network: shared by the tests and by the processes they start."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image

import trope
from trope.data.pairs import Pairs

GRID = 5


@dataclass
class Fake:
    """Features are sums of pixels; every encoded picture is noted, in memory and in a file."""

    name: str = "fake"
    size: int = 8
    weights: str = "one"
    log: Path | None = None
    pause: float = 0.0
    encoded: list[int] = field(default_factory=list)
    before: Callable[[], None] = lambda: None

    def fingerprint(self) -> str:
        return self.weights

    def encode(self, pixels: np.ndarray, kind: str) -> np.ndarray:
        self.before()
        time.sleep(self.pause)
        self.encoded.extend(pixels[:, 0, 0, 0].tolist())
        if self.log:
            with self.log.open("a") as file:
                file.write("x" * len(pixels))
        sums = pixels.astype(np.float64).sum(axis=(1, 2))
        if kind == "pooled":
            return sums.astype(np.float32)
        return (sums[:, None] * np.arange(GRID)[None, :, None] / 2**10).astype(np.float16)


def write_pictures(folder: Path, count: int, first: int = 0) -> list[str]:
    """Small pictures, each of its own colors."""
    folder.mkdir(parents=True, exist_ok=True)
    names = [f"{i}.png" for i in range(first, first + count)]
    for i, name in enumerate(names, first):
        color = np.array([i % 251, (7 * i) % 251, (31 * i + 5) % 251], np.uint8)
        Image.fromarray(np.broadcast_to(color, (9, 11, 3)).copy()).save(folder / name)
    return names


def data_set(folder: Path, names: list[str | None]) -> Pairs:
    """A row per name; None is a row without a picture."""
    rows = [{"id": str(i), "text": f"text {i}"} for i in range(len(names))]
    for row, name in zip(rows, names, strict=True):
        if name is not None:
            row["image"] = name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    return trope.open(folder)

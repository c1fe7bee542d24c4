"""Small data sets with pictures and texts, and a backbone that needs no network."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import trope
from trope.data.pairs import Pairs
from trope.encoders import HeadSettings
from trope.encoders.content import Encoder
from trope.encoders.heads import head
from trope.encoders.model import Tower


def placed(encoder: Encoder, settings: HeadSettings) -> Tower:
    """An encoder with the head that settings ask for."""
    return Tower(encoder, head(encoder.whole, encoder.part, settings))


@dataclass(frozen=True)
class Small:
    """Features are sums of pixels, all or those of a row."""

    channels: int = 3
    name: str = "small"
    size: int = 8

    def fingerprint(self) -> str:
        return f"small-{self.channels}"

    def encode(self, pixels: np.ndarray, kind: str) -> np.ndarray:
        rows = np.tile(pixels.astype(np.float32).mean(axis=2) / 255, (1, 1, 2))
        parts = rows[:, :, : self.channels]
        return parts.mean(axis=1) if kind == "pooled" else parts.astype(np.float16)


def write_pictures(folder: Path, count: int, side: int = 12) -> list[str]:
    """Pictures of noise, each of its own, not the same when mirrored."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    names = [f"{i}.png" for i in range(count)]
    for name in names:
        Image.fromarray(random.integers(0, 256, (side, side, 3), np.uint8)).save(folder / name)
    return names


def data_set(folder: Path, rows: Sequence[Mapping[str, Any]]) -> Pairs:
    """A row per mapping; what is None is left out."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for i, row in enumerate(rows):
        named = {"id": f"r{i}", **row}
        lines.append(json.dumps({key: value for key, value in named.items() if value is not None}))
    (folder / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return trope.open(folder)


def six(folder: Path) -> Pairs:
    """Six rows with a picture each: three to train on, one to validate, two to test."""
    names = write_pictures(folder, 6)
    texts = ["a red ship", "the old ship", "bread and salt", "a red loaf", "salt zebra", "a ship"]
    splits = ["train", "train", "train", "val", "test", "test"]
    columns = zip(names, texts, splits, strict=True)
    return data_set(folder, [{"image": n, "text": t, "split": s} for n, t, s in columns])

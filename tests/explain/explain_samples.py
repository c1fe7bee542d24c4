"""A small data set with pictures of two kinds and texts about three things."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from trope.explain import ExplainSettings
from trope.spaces import Doc2Vec
from trope.spaces.paragraphs import Training

TOPICS = ("the judge spoke law in court", "the ship crossed sea and wind", "bread flour oven salt")
SMALL = ExplainSettings(
    k=4, pairs=2, doc2vec=Doc2Vec(Training(size=8, window=4, min_count=1, epochs=8))
)


def write(
    folder: Path, count: int = 12, rows: Mapping[int, Mapping[str, Any]] | None = None
) -> Path:
    """Rows 0 … count - 1, some of them changed; a value of None takes the column away."""
    random = np.random.default_rng(0)
    folder.mkdir(parents=True)
    lines = []
    for i in range(count):
        pixels = random.integers(0, 255, (6, 8, 3), np.uint8)
        large = np.kron(pixels, np.ones((1 + 7 * (i % 2), 8, 1), np.uint8))
        Image.fromarray(large).save(folder / f"{i}.png")
        words = " ".join(random.choice(TOPICS[i % 3].split(), 6))
        row = {"id": f"r{i}", "image": f"{i}.png", "text": words, "split": "train"}
        row |= (rows or {}).get(i, {})
        lines.append(json.dumps({k: v for k, v in row.items() if v is not None}))
    (folder / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder

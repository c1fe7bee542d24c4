"""A small data set with pictures and their features, and runs that learn it within a second."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from PIL import Image

from trope.training import train

TOPICS, REGIONS, SIZE = 6, 2, 12
NEAR = "neighbors.k=6"
SPLITS = ("train",) * 4 + ("val", "test")
QUICK = (
    "image.backbone=precomputed",
    "text.hidden=12",
    "text.words=8",
    "head.size=8",
    "training.batch=16",
    "training.learning_rate=0.01",
    "training.epochs=3",
)


def write(folder: Path, rows: int = 72, texts: int = 1) -> Path:
    """`rows` pictures of topics, each with texts about its topic."""
    random = np.random.default_rng(0)
    topics = np.arange(rows) % TOPICS
    regions = random.normal(size=(TOPICS, SIZE))[topics][:, None]
    regions = regions + 0.5 * random.normal(size=(rows, REGIONS, SIZE))
    (folder / "features").mkdir(parents=True)
    np.save(folder / "features" / "image.npy", regions.astype(np.float32))
    lines = []
    for row in range(rows):
        color = tuple(int(c) for c in random.integers(0, 255, 3))
        Image.new("RGB", (12, 8), color).save(folder / f"{row}.png")
        about = {"id": f"r{row}", "image": f"{row}.png", "image_feature": row}
        said = [_sentence(random, int(topics[row])) for _ in range(texts)]
        lines.append(json.dumps(about | {"texts": said, "split": SPLITS[row // TOPICS % 6]}))
    (folder / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return folder


def trained(recipe: str, data: Path, out: Path, *sets: str, seed: int = 0) -> Path:
    """A finished run."""
    train(recipe, data, out, sets=[*QUICK, *sets], seed=seed, quiet=True)
    return out


def _sentence(random: np.random.Generator, topic: int) -> str:
    words = [f"topic{topic}word{random.integers(4)}" for _ in range(random.integers(3, 7))]
    return " ".join([*words, f"filler{random.integers(1000)}"])

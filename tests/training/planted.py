"""A small data set in which pictures and texts share topics; features of pictures come with it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from PIL import Image

TOPICS, REGIONS, SIZE = 8, 4, 16
SPLITS = ("train",) * 6 + ("val", "test")


def write(
    folder: Path, rows: int = 160, texts: int = 1, seed: int = 0, labeled: bool = False
) -> Path:
    """`rows` pictures, each with texts of words of its topic, which may be told by labels."""
    random = np.random.default_rng(seed)
    directions = random.normal(size=(TOPICS, SIZE))
    topics = np.arange(rows) % TOPICS
    regions = directions[topics][:, None] + 0.5 * random.normal(size=(rows, REGIONS, SIZE))
    (folder / "features").mkdir(parents=True)
    np.save(folder / "features" / "image.npy", regions.astype(np.float32))
    lines = [
        json.dumps(
            {
                "id": f"r{row}",
                "texts": [sentence(random, int(topics[row]), row, i) for i in range(texts)],
                "image_feature": row,
                "split": SPLITS[row // TOPICS % len(SPLITS)],
                **({"labels": labels(int(topics[row]))} if labeled else {}),
            }
        )
        for row in range(rows)
    ]
    (folder / "pairs.jsonl").write_text("\n".join(lines))
    return folder


def labels(topic: int) -> list[str]:
    """Two of a topic: its own, and one of several topics."""
    return [f"topic {topic}", f"kind {topic % 3}"]


def photographs(folder: Path) -> Path:
    """Pictures of noise, eight to train on and two to validate on."""
    folder.mkdir()
    rows, random = [], np.random.default_rng(0)
    for i in range(10):
        noise = random.integers(0, 255, (32, 32, 3), np.uint8)
        Image.fromarray(noise).save(folder / f"{i}.png")
        split = "train" if i < 8 else "val"
        rows.append({"id": f"{i}", "image": f"{i}.png", "text": f"word{i % 4}", "split": split})
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return folder


def sentence(random: np.random.Generator, topic: int, row: int, number: int) -> str:
    words = [f"topic{topic}word{random.integers(5)}" for _ in range(random.integers(2, 7))]
    return " ".join([*words, f"row{row}", f"text{number}"])


PRECOMPUTED = [
    "image.backbone=precomputed",
    "text.hidden=16",
    "text.words=12",
    "head.size=12",
    "training.batch=16",
    "training.schedule=plateau",
    "training.learning_rate=0.01",
    "image.dropout=0",  # what is small enough for a test needs none
    "text.dropout=0",
]
PIXELS = [
    "image.encoder=tuned",
    "text.hidden=16",
    "text.words=12",
    "training.batch=4",
    "training.schedule=plateau",
    "image.dropout=0",
    "text.dropout=0",
]

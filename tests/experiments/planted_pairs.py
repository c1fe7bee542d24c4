"""Pairs whose pictures (given as features) and texts share topics: learnable within a second."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

TOPICS, REGIONS, SIZE = 8, 4, 16
SPLITS = ("train",) * 4 + ("val", "test")
QUICK = (
    "image.backbone=precomputed",
    "text.hidden=16",
    "text.words=12",
    "head.size=12",
    "training.batch=16",
    "training.learning_rate=0.01",
    "training.epochs=2",
    "image.dropout=0",
    "text.dropout=0",
)


LABELS = ("cat", "dog", "car", "bus", "orange", "apple", "fork", "spoon")


def write(folder: Path, rows: int = 144, seed: int = 0, labeled: bool = False) -> Path:
    """`rows` pictures with a text each; four rows in a row are of one story.

    Labels are names of COCO, two topics of each super-class.
    """
    random = np.random.default_rng(seed)
    topics = np.arange(rows) % TOPICS
    regions = random.normal(size=(TOPICS, SIZE))[topics][:, None]
    regions = regions + 0.5 * random.normal(size=(rows, REGIONS, SIZE))
    (folder / "features").mkdir(parents=True)
    np.save(folder / "features" / "image.npy", regions.astype(np.float32))
    lines = [
        json.dumps(
            {
                "id": f"r{row}",
                "text": _sentence(random, int(topics[row])),
                "image_feature": row,
                "group": f"story{row // 4}",
                "split": SPLITS[row // TOPICS % len(SPLITS)],
                **(
                    {"labels": [LABELS[topics[row]]] + ["person"] * (row % 3 == 0)}
                    if labeled
                    else {}
                ),
            }
        )
        for row in range(rows)
    ]
    (folder / "pairs.jsonl").write_text("\n".join(lines))
    return folder


def _sentence(random: np.random.Generator, topic: int) -> str:
    words = [f"topic{topic}word{random.integers(5)}" for _ in range(random.integers(2, 7))]
    return " ".join([*words, f"filler{random.integers(1000)}"])

"""Pictures and texts of a few topics, and settings for models that learn them within seconds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from PIL import Image

import quick

TOPICS = 5
WORDS = (
    "apple pear plum",
    "red blue green",
    "north south east",
    "flute drum harp",
    "rain snow fog",
)
SPLITS = ("train",) * 6 + ("val", "test")
QUICK = (*quick.QUICK, "training.epochs=12")


def write(folder: Path, rows: int = 80) -> Path:
    """Pictures of a color for each topic, texts of its words; years and sections to filter by."""
    random = np.random.default_rng(0)
    (folder / "features").mkdir(parents=True)
    colors = random.integers(40, 215, (TOPICS, 3))
    directions = random.standard_normal((TOPICS, 16))
    regions, lines = [], []
    for row in range(rows):
        topic = row % TOPICS
        near = np.clip(colors[topic] + random.integers(-30, 30, 3), 0, 255)
        Image.new("RGB", (12, 8), tuple(map(int, near))).save(folder / f"{row}.png")
        said = random.choice(WORDS[topic].split(), 4).tolist()
        about = {"id": f"r{row}", "image": f"{row}.png", "text": " ".join([*said, f"item{row}"])}
        more = {"labels": [f"topic{topic}"], "split": SPLITS[row // TOPICS % 8]}
        lines.append(about | more | {"year": 2000 + row, "image_feature": row})
        regions.append(directions[topic] + 0.3 * random.standard_normal((3, 16)))
    np.save(folder / "features" / "image.npy", np.array(regions, np.float32))
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return folder

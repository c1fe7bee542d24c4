"""A small archive to be looked at: pictures of many shapes, texts, and a row with markup."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw

import quick

WORDS = {
    "fruit": "apple pear plum quince",
    "music": "flute drum harp organ",
    "weather": "rain snow fog thunder",
    "travel": "north south harbor road",
}
SIZES = ((160, 120), (120, 160), (140, 140), (240, 100))
SPLITS = ("train",) * 6 + ("val", "test")
MARKUP = "<script>document.title = 'broken'</script> rain <b>snow</b> & fog"
QUICK = (*quick.QUICK, "training.epochs=6")


def write(folder: Path, rows: int = 48) -> Path:
    """Pictures of a color for each topic, texts of its words, columns to filter by."""
    random = np.random.default_rng(0)
    folder.mkdir(parents=True)
    colors = random.integers(60, 200, (len(WORDS), 3))
    lines = []
    for row in range(rows):
        topic = row % len(WORDS)
        label = list(WORDS)[topic]
        _picture(folder / f"{row}.png", SIZES[row // 4 % 4], colors[topic], random)
        said = random.choice(WORDS[label].split(), 3).tolist()
        about = {"id": f"r{row}", "image": f"{row}.png", "text": " ".join([*said, f"item{row}"])}
        more = {"labels": [label], "split": SPLITS[row // len(WORDS) % 8], "year": 2000 + row}
        lines.append(
            about | more | {"license": "CC BY 4.0", "note": None if row % 2 else "<i>x</i>"}
        )
    lines[2]["text"] = MARKUP
    lines.append({"id": "alone/7 ü", "text": "a text without a picture, harp", "labels": ["music"]})
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    return folder


def _picture(
    path: Path, size: tuple[int, int], color: np.ndarray, random: np.random.Generator
) -> None:
    near = tuple(int(v) for v in np.clip(color + random.integers(-25, 25, 3), 0, 255))
    image = Image.new("RGB", size, near)
    spot = [int(v) for v in random.integers(10, 60, 2)]
    box = [*spot, spot[0] + 40, spot[1] + 40]
    ImageDraw.Draw(image).ellipse(box, fill=(250, 250, 240))
    image.save(path)

"""A miniature of the official files: images with captions and labels, and people's judgments."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import orjson

WORDS = ("dog", "cat", "kite", "train", "pizza", "horse", "surfer", "clock")
PLACES = ("beach", "street", "field", "kitchen", "station")
CAPTIONS = 3


def number(image: int) -> int:
    return 391_000 + 7 * image


def caption_number(caption: int) -> int:
    return 770_000 + 13 * caption


def image_name(image: int) -> str:
    return f"COCO_val2014_{number(image):012d}.jpg"


def caption_name(caption: int) -> str:
    return f"COCO_val2014:sentid:{caption_number(caption)}"


def rows(images: int) -> list[dict[str, object]]:
    """Images of a thing in a place, described in three ways."""
    made: list[dict[str, object]] = []
    for i in range(images):
        thing, place = WORDS[i % len(WORDS)], PLACES[i // 2 % len(PLACES)]
        texts = [
            f"A {thing} at the {place}.",
            f"there is one {thing} near a {place} today",
            f"a small {thing} {'sits' if i % 3 else 'stands'} in some {place}",
        ]
        ids = [caption_number(CAPTIONS * i + c) for c in range(CAPTIONS)]
        row = {"id": number(i), "texts": texts, "caption_ids": ids, "split": "test"}
        made.append(row | {"image": f"images/{i}.jpg", "labels": [thing, "person"][: 1 + i % 2]})
    return made


def judgments(header: str, lines: Sequence[tuple[str, str, float]]) -> str:
    return "\n".join([header, *(f"{a},{b},{score},some" for a, b, score in lines)]) + "\n"


def write(folder: Path, images: int = 16) -> Path:
    """Every image judged with five captions, every third caption with four others."""
    (folder / "coco_captions").mkdir(parents=True)
    (folder / "cxc").mkdir()
    other = {"id": 1, "texts": ["elsewhere"], "caption_ids": None, "labels": [], "split": "train"}
    lines = [orjson.dumps(row) for row in [other, *rows(images)]]
    path = folder / "coco_captions" / "karpathy_captions_labels_10k.jsonl"
    path.write_bytes(b"\n".join(lines))
    random = np.random.default_rng(0)
    count = CAPTIONS * images
    others = np.flatnonzero(np.arange(count) % CAPTIONS)  # no pair twice, in either order
    sits, sts = [], []
    for i in range(images):
        for c in [CAPTIONS * i, *random.choice(count, 4, replace=False)]:
            same = c // CAPTIONS % len(WORDS) == i % len(WORDS)
            score = 3.0 + random.random() if same else 4 * random.random()
            sits.append((caption_name(c), image_name(i), round(score, 2)))
        for c in random.choice(others, 4, replace=False):
            sts.append((caption_name(CAPTIONS * i), caption_name(c), round(5 * random.random(), 2)))
    header = "agg_score,sampling_method"
    (folder / "cxc" / "sits_test.csv").write_text(judgments(f"caption,image,{header}", sits))
    (folder / "cxc" / "sts_test.csv").write_text(judgments(f"caption1,caption2,{header}", sts))
    return folder

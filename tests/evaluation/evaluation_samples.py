"""Small data sets and random vectors to be evaluated."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import torch

import trope
from trope.data.pairs import Pairs
from trope.evaluation.embedded import Embedded
from trope.evaluation.gallery import Gallery
from trope.maths import normalize
from trope.views import Encoded


def pairs_of(folder: Path, rows: Sequence[dict[str, Any]]) -> Pairs:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pairs.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return trope.open(folder)


def vectors(random: np.random.Generator, count: int, size: int = 6, senses: int = 0) -> Encoded:
    """Random unit vectors, each with some senses."""
    shape = (count, senses, size) if senses else (count, size)
    values = normalize(torch.from_numpy(random.normal(size=shape)).float())
    return Encoded(normalize(values.mean(1)), values) if senses else Encoded(values)


def plain_gallery(counts: Sequence[int], labels: Any = None) -> Gallery:
    """Pictures with so many texts each, all different."""
    starts = np.concatenate([[0], np.cumsum(counts)])
    images, texts = np.arange(len(counts)), np.arange(starts[-1])
    rows = np.repeat(images, counts)
    words = [f"word{i % 5} of text{i} row{rows[i]}" for i in texts]
    ids = [f"r{i}" for i in images]
    places = texts - starts[rows]
    return Gallery(
        images, texts, starts, images, rows, places, texts, images // 2, labels, ids, words
    )


def random_embedded(
    seed: int, counts: Sequence[int], labels: Any = None, senses: int = 0
) -> Embedded:
    random = np.random.default_rng(seed)
    gallery = plain_gallery(counts, labels)
    image = vectors(random, len(gallery.images), senses=senses)
    return Embedded(gallery, image, vectors(random, len(gallery.texts), senses=senses))

"""An index to be served: real rows, pictures and a small model; vectors around centers."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import orjson
from PIL import Image

import trope
from trope.data.digests import image_digests
from trope.data.pairs import Pairs
from trope.index import open_engine
from trope.index.items import joined
from trope.index.lines import Lines
from trope.search import build_index
from trope.training import train

PICTURES, WORDS, TRAINED = 64, 500, 64
SIZE = 256
SETTINGS = (
    "text.hidden=256",
    "text.words=64",
    "text.pretrained=false",
    f"head.size={SIZE}",
    "training.batch=16",
    "training.epochs=1",
)


def words() -> list[str]:
    """Made-up words, always the same."""
    random = np.random.default_rng(1)
    return ["".join(map(chr, random.integers(97, 123, 6))) for _ in range(WORDS)]


def queries(count: int, seed: int = 2) -> list[str]:
    """Texts of a few words, none of them twice."""
    random, known = np.random.default_rng(seed), words()
    return [f"{' '.join(random.choice(known, 4))} {number}" for number in range(count)]


def made(folder: Path, items: int) -> Path:
    """An index of half as many pictures as items, and as many texts."""
    data = _pictures(folder / "data")
    _rows(data, TRAINED)
    train("infonce", data, folder / "run", sets=SETTINGS, quiet=True)
    build_index(folder / "run", data, folder / "index")
    _rows(data, items // 2)
    _fill(folder / "index", trope.open(data))
    return folder / "index"


def _pictures(folder: Path) -> Path:
    random = np.random.default_rng(0)
    folder.mkdir(parents=True)
    for number in range(PICTURES):
        noise = random.integers(0, 255, (24, 32, 3), np.uint8)
        picture = Image.fromarray(noise).resize((640, 480), Image.Resampling.BICUBIC)
        picture.save(folder / f"{number}.jpg", quality=85)
    return folder


def _rows(folder: Path, rows: int) -> None:
    random, known = np.random.default_rng(0), words()
    said = random.choice(known, (rows, 12))
    with (folder / "pairs.jsonl").open("wb") as file:
        for row in range(rows):
            line = {"id": f"r{row}", "image": f"{row % PICTURES}.jpg", "text": " ".join(said[row])}
            more = {"labels": [known[row % 40]], "year": 1970 + row % 50, "license": "CC0"}
            file.write(orjson.dumps(line | more) + b"\n")


def _fill(index: Path, pairs: Pairs) -> None:
    """Put all rows in, in place of those the small index was made of."""
    engine, rows = open_engine(index), np.arange(len(pairs))
    lines = Lines(pairs, 0, np.zeros(len(pairs), bool), image_digests(pairs).values)
    table = joined([lines.images(rows), lines.texts(rows)])
    vectors = _clustered(2 * len(pairs))
    engine.add(table.column("trope.key").to_pylist(), vectors[:, None], table)
    engine.close()


def _clustered(count: int) -> np.ndarray:
    random = np.random.default_rng(3)
    centers = random.standard_normal((max(1, count // 100), SIZE), np.float32)
    found = random.standard_normal((count, SIZE), np.float32) * np.float32(0.7)
    found += centers[random.integers(0, len(centers), count)]
    return found / np.linalg.norm(found, axis=1, keepdims=True)

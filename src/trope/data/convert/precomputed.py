"""Precomputed region features with captions, in the layout of SCAN."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from jaxtyping import Int

from trope.data.convert import arrays
from trope.data.convert.layout import Block, Contents, Features, Format, Found, said
from trope.data.convert.lookup import required, text_lines
from trope.errors import DataError, UsageError

SPLITS = {"train": "train", "dev": "val", "test": "test", "testall": "test"}

Rows = Int[np.ndarray, " images"]
Bounds = Int[np.ndarray, " bounds"]


@dataclass(frozen=True)
class Precomputed:
    """Which of two test parts is the test set; `auto` takes `testall`, which holds the other."""

    test: Literal["auto", "test", "testall"] = "auto"


@dataclass(frozen=True)
class _Part:
    """One part; image i has the feature row `first[i]` and the captions of `bounds[i:i + 2]`."""

    name: str
    path: Path
    array: Block
    first: Rows
    bounds: Bounds
    captions: list[str]
    ids: list[str]


def read(source: Path, settings: Precomputed) -> Contents:
    """All parts one after the other: a row per image, its features in one array."""
    parts = [_part(source, name) for name in _names(source, settings.test)]
    shapes = {(part.array.shape[1:], part.array.dtype) for part in parts}
    if len(shapes) > 1:
        raise DataError(f"{source}: the parts' features differ in shape or type: {_shapes(parts)}")
    count = sum(len(part.first) for part in parts)
    shape, dtype = next(iter(shapes))
    files = tuple(part.path for part in parts)
    image = Features((count, *shape), dtype, files, lambda: (b for p in parts for b in _blocks(p)))
    return Contents(_rows(parts), {"image": image})


def _names(source: Path, test: str) -> list[str]:
    there = [name for name in SPLITS if (source / f"{name}_ims.npy").is_file()]
    if not there:
        required(source, "features", *(f"{name}_ims.npy" for name in SPLITS))
    if test != "auto" and test not in there:
        raise UsageError(f"{source}: features not found; looked for {test}_ims.npy")
    unused = "test" if "testall" in there else ""
    if test != "auto":
        unused = "testall" if test == "test" else "test"
    return [name for name in there if name != unused]


def _part(source: Path, name: str) -> _Part:
    path = source / f"{name}_ims.npy"
    array = arrays.mapped(path)
    captions = list(text_lines(required(source, "captions", f"{name}_caps.txt")))
    if not len(array) or not captions or len(captions) % len(array):
        problem = f"{len(captions):,} captions for {len(array):,} images"
        raise DataError(f"{path}: {problem}; every image needs the same number of captions")
    if len(array) == len(captions):
        first = _first_rows(array)
        bounds = np.append(first, len(captions))
    else:
        first = np.arange(len(array))
        bounds = np.arange(len(array) + 1) * (len(captions) // len(array))
    ids = _ids(source / f"{name}_ids.txt", bounds)
    return _Part(name, path, array, first, bounds, captions, ids)


def _first_rows(array: Block) -> Rows:
    """Where each run of equal rows begins: older files repeat an image's row for every caption."""
    step = arrays.block_rows(array)
    begins = [np.arange(min(1, len(array)))]
    for start in range(1, len(array), step):
        now = array[start : start + step]
        before = array[start - 1 : start - 1 + len(now)]
        differs = (now != before).reshape(len(now), -1).any(axis=1)
        begins.append(start + np.flatnonzero(differs))
    return np.concatenate(begins)


def _ids(path: Path, bounds: Bounds) -> list[str]:
    """One name per image, from a file with one line per image or one per caption."""
    ids = [line.strip() for line in text_lines(path)] if path.is_file() else []
    images, captions = len(bounds) - 1, int(bounds[-1])
    if len(ids) in (0, images):
        return ids
    if len(ids) == captions:
        return [ids[row] for row in bounds[:-1]]
    raise DataError(f"{path}: {len(ids):,} lines for {images:,} images")


def _blocks(part: _Part) -> Iterator[Block]:
    step = arrays.block_rows(part.array)
    for start in range(0, len(part.first), step):
        rows = part.first[start : start + step]
        whole = rows[-1] - rows[0] + 1 == len(rows)
        yield part.array[rows[0] : rows[-1] + 1] if whole else part.array[rows]


def _rows(parts: list[_Part]) -> Iterator[Found]:
    offset = 0
    for part in parts:
        for number in range(len(part.first)):
            texts = part.captions[part.bounds[number] : part.bounds[number + 1]]
            row = {
                "id": f"{part.name}-{number}",
                **said(texts),
                "split": SPLITS[part.name],
                "image_feature": offset + number,
                "image_id": part.ids[number] if part.ids else None,
            }
            yield Found(row)
        offset += len(part.first)


def _shapes(parts: list[_Part]) -> str:
    return ", ".join(f"{p.path.name} {p.array.shape[1:]} {p.array.dtype}" for p in parts)


FORMAT = Format(
    about="precomputed region features of COCO or Flickr30K with their captions",
    paper="Lee et al., Stacked Cross Attention for Image-Text Matching, ECCV 2018",
    layout="""\
SOURCE/                  for each of train, dev, test, testall
  train_ims.npy          features, images x 36 x 2048 (or one vector per image)
  train_caps.txt         captions, one per line, the same number for every image
  train_ids.txt          optional names of the images""",
    becomes="train, dev (as val), and testall or else test (as test); "
    "image_feature is a row of features/image.npy",
    read=read,
    settings=Precomputed,
)

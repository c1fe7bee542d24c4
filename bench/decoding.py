"""Decoding by worker processes against bare Pillow: the same operations, as many processes.

The other side is as bare as it can be: forked processes, each with its share of the files, that
decode and throw the pixels away. Ours delivers every batch to the parent; starting is included.
"""

from __future__ import annotations

import io
import multiprocessing
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pyarrow as pa
from PIL import Image

from trope.data.loading import ImageBatches
from trope.data.stores import FolderImages
from trope.runtime import cores

PHOTOS = 1_000
PASSES = 8  # times each photo is decoded in one measurement, so that starting weighs little
REPEATS = 5
SIZE = 224


def measure(full: bool = False) -> dict[str, object]:
    """Seconds of both sides, alternating, after their pixels were found to be the same."""
    photos, passes = (4 * PHOTOS if full else PHOTOS), PASSES
    with tempfile.TemporaryDirectory() as folder:
        paths = make_photos(Path(folder), photos)
        store = FolderImages(Path(folder), pa.chunked_array([[path.name for path in paths]]))
        compare(store, paths)
        rows = np.tile(np.arange(photos), passes)
        ours, theirs = [], []
        for _ in range(REPEATS):
            theirs.append(seconds(lambda: bare_pillow(paths * passes)))
            ours.append(seconds(lambda: by_workers(store, rows)))
    (mine, my_work), (bare, bare_work) = medians(ours), medians(theirs)
    return {
        "ours": mine,
        "theirs": bare,
        "ratio": bare / mine,
        "cpu_ratio": bare_work / my_work,  # what remains to be seen when others use the machine
        "better": "higher",
        "against": f"Pillow alone in {cores()} forked processes, nothing sent back",
        "work": f"{photos * passes} JPEG files of 640x480 to {SIZE}x{SIZE}, {cores()} cores",
    }


def make_photos(folder: Path, count: int) -> list[Path]:
    """Photo-like pictures: soft color fields with noise."""
    random = np.random.default_rng(0)
    noise = random.normal(0, 8, (960, 1280, 3)).astype(np.float32)
    paths = []
    for i in range(count):
        fields = random.integers(0, 256, (6, 8, 3), dtype=np.uint8)
        soft = Image.fromarray(fields).resize((640, 480), Image.Resampling.BICUBIC)
        down, right = random.integers(0, 480), random.integers(0, 640)
        pixels = np.asarray(soft) + noise[down : down + 480, right : right + 640]
        paths.append(folder / f"{i}.jpg")
        Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(paths[-1], quality=85)
    return paths


def bare(path: Path) -> np.ndarray:
    """What anyone would write with Pillow."""
    with Image.open(io.BytesIO(path.read_bytes())) as image:
        _, box = image.draft("RGB", (SIZE, SIZE))
        return np.asarray(image.resize((SIZE, SIZE), Image.Resampling.BICUBIC, box))


def bare_loop(paths: list[Path]) -> None:
    for path in paths:
        bare(path)


def bare_pillow(paths: list[Path]) -> None:
    context = multiprocessing.get_context("fork")
    shares = [paths[i :: cores()] for i in range(cores())]
    processes = [context.Process(target=bare_loop, args=(share,)) for share in shares]
    for process in processes:
        process.start()
    for process in processes:
        process.join()


def by_workers(store: FolderImages, rows: np.ndarray) -> None:
    delivered = sum(len(batch.rows) for batch in ImageBatches(store, rows, workers=cores()))
    if delivered != len(rows):
        raise SystemExit(f"{delivered} pictures delivered, {len(rows)} wanted")


def compare(store: FolderImages, paths: list[Path]) -> None:
    """Both sides decode the same pixels, or there is nothing to time."""
    for batch in ImageBatches(store, np.arange(len(paths)), workers=cores()):
        expected = np.stack([bare(paths[row]) for row in batch.rows])
        if not np.array_equal(batch.pixels, expected):
            raise SystemExit("the two sides decode different pixels")


def seconds(work: Callable[[], None]) -> tuple[float, float]:
    """By the clock, and of all processors together, this process and those it started."""
    start, used = time.perf_counter(), processor_seconds()
    work()
    return time.perf_counter() - start, processor_seconds() - used


def processor_seconds() -> float:
    return sum(os.times()[:4])


def medians(runs: list[tuple[float, float]]) -> tuple[float, float]:
    clock, processor = zip(*runs, strict=True)
    return statistics.median(clock), statistics.median(processor)


if __name__ == "__main__":
    for name, value in measure().items():
        print(f"{name:8} {value}")

"""Encoding for an index: our job against the bare model, fed tensors that are ready."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from PIL import Image

from bench.tables import write_rows
from trope.checkpoints import Checkpoint
from trope.data.images import decode
from trope.data.pairs import Pairs
from trope.data.readers import open as open_pairs
from trope.encoders import HeadSettings, ImageSettings, Plan, TextSettings
from trope.features.backbones import backbone
from trope.index.encoding import Encoding

REPEATS, BATCH = 5, 256
PICTURES = 768  # so many that loading the network, which ours does each time, is a small part
WIDTH, HEIGHT = 500, 375  # of pictures, as those of COCO

Side = Callable[[], np.ndarray]


def texts(full: bool) -> dict[str, Any]:
    """Texts through a GRU: words in, vectors out; what is read and tokenized is not counted."""
    rows = 20_000 if full else 5_000
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        write_rows(home / "pairs.jsonl", rows)
        pairs = open_pairs(home / "pairs.jsonl")
        plan = _plan(pairs, 8)
        model = plan.model(0).eval()
        inputs, numbers = plan.texts(pairs).inputs, np.arange(len(pairs))
        batches = [numbers[i : i + BATCH] for i in range(0, rows, BATCH)]
        ready = list(inputs.batches(batches, None))

        def ours() -> np.ndarray:
            job = Encoding(Checkpoint(model, plan, {}), pairs, _new(home))
            return job.encoded("text", model.text, inputs, numbers)[0].vectors[:, 0]

        @torch.no_grad()
        def theirs() -> np.ndarray:
            return torch.cat([model.text(*tensors)[0] for tensors in ready]).numpy()  # type: ignore[misc]

        times = _in_turn(ours, theirs)
    return _case(times, rows, "texts through a GRU", f"the bare model on ready batches of {BATCH}")


def pictures(full: bool) -> dict[str, Any]:
    """Pictures from their files to vectors, against network and head on pixels that are ready."""
    return _pictures(full, "network and head alone, on decoded pixels in memory", ready=True)


def files(full: bool) -> dict[str, Any]:
    """The same against Pillow in a thread for each core, then network and head."""
    return _pictures(full, "decoding in threads, then network and head", ready=False)


def _pictures(full: bool, against: str, ready: bool) -> dict[str, Any]:
    rows = 3_000 if full else PICTURES
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        pairs = _shown(home / "data", rows)
        network = backbone("efficientnet-lite0")
        paths = [home / "data" / f"{i}.jpg" for i in range(rows)]
        pixels = _decoded(paths)
        plan = _plan(pairs, 1_280)
        model = plan.model(0).eval()
        network.encode(pixels[:8], "pooled")  # type: ignore[union-attr]

        def ours() -> np.ndarray:
            os.environ["TROPE_CACHE"] = str(_new(home))  # features are made anew each time
            job = Encoding(Checkpoint(model, plan, {}), pairs, _new(home))
            return job.images().vectors[:, 0]

        @torch.no_grad()
        def theirs() -> np.ndarray:
            found = network.encode(pixels if ready else _decoded(paths), "pooled")  # type: ignore[union-attr]
            return model.image(torch.from_numpy(found))[0].numpy()  # type: ignore[union-attr]

        times = _in_turn(ours, theirs, apart=2e-3, repeats=3)  # features are kept in 16 bits
    return _case(times, rows, f"JPEG pictures of {WIDTH}x{HEIGHT}, decoding included", against)


def _decoded(paths: list[Path]) -> np.ndarray:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return np.stack([*pool.map(lambda path: decode(path.read_bytes(), path.name, 224), paths)])


def _in_turn(
    ours: Side, theirs: Side, apart: float = 1e-5, repeats: int = REPEATS
) -> tuple[float, float]:
    """Medians, sides taking turns; both must give the same, or no further `apart`."""
    spent: tuple[list[float], list[float]] = ([], [])
    for _ in range(repeats):
        found = []
        for side, times in zip((ours, theirs), spent, strict=True):
            started = time.perf_counter()
            found.append(side())
            times.append(time.perf_counter() - started)
        assert np.allclose(found[0], found[1], atol=apart), "vectors differ"
    return median(spent[0]), median(spent[1])


def _case(times: tuple[float, float], rows: int, what: str, against: str) -> dict[str, Any]:
    own, peer = times
    work = f"{rows:,} {what}, in blocks that are put down: {rows / own:,.0f} a second"
    values = {"ratio": peer / own, "better": "higher", "ours": own, "theirs": peer}
    return values | {"work": work, "against": against}


def _plan(pairs: Pairs, size: int) -> Plan:
    train = pa.array(["train"] * len(pairs))
    plan = Plan(ImageSettings(), TextSettings(), HeadSettings(), image_size=size)
    return plan.fitted(pairs.with_column("split", train))


def _shown(folder: Path, rows: int) -> Pairs:
    """Pictures that all differ, smooth enough to be compressed as photographs are."""
    folder.mkdir()
    random = np.random.default_rng(0)
    lines = []
    for row in range(rows):
        small = Image.fromarray(random.integers(0, 256, (24, 32, 3), np.uint8))
        small.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC).save(folder / f"{row}.jpg")
        lines.append(f'{{"id": "r{row}", "image": "{row}.jpg", "text": "word word{row % 50}"}}')
    (folder / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return open_pairs(folder / "pairs.jsonl")


def _new(home: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=home))

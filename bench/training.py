"""Training against loops as anyone would write them: all that ours adds must cost little.

On frozen features the other side is the same model, loss, optimizer and batches in plain PyTorch,
without checks, masks, seeds, progress or savings; losses are compared step by step before any time
is told. Fine-tuning on JPEG files is held against the bare network, forward and backward, on random
tensors that lie in memory: what is left over is decoding, heads, loss and optimizer. Sides take
turns; a ratio is that of medians of wall-clock times, and `cpu_ratio` that of processor times,
which tell more when others use the machine.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from lightning_fabric import Fabric
from torch import Tensor, nn
from torch.nn import functional

from bench.decoding import make_photos
from trope.data.samples import Samples, drawn
from trope.data.stores import FolderImages
from trope.encoders import ImageSettings, Plan, TextSettings
from trope.encoders.inputs import Inputs, Rows
from trope.encoders.pixels import Pixels
from trope.encoders.tuned import Tuned
from trope.training.loop import Loop
from trope.training.recipes import load_recipe
from trope.training.settings import Experiment
from trope.training.state import Progress
from trope.training.task import Task, build_loss
from trope.training.train import deterministic_algorithms

IMAGE, TEXT, BATCH, NEAR = 1280, 384, 64, 200
REPEATS = 7
TUNED_BATCH = 32

Times = tuple[float, float]  # seconds on the wall, and of the processors


def recipe(name: str, encoder: str = "frozen") -> Experiment:
    """A recipe's loss and training, with vectors of sentences as texts."""
    found = load_recipe(name)
    settings = {"image": ImageSettings(encoder), "text": TextSettings("sentence")}
    return Experiment(loss=found.loss, penalties=found.penalties, **settings)


def task(settings: Experiment, images: Inputs, pairs: int) -> Task:
    """As many pairs as asked for, all different, with texts and neighbors made up."""
    random = torch.Generator().manual_seed(0)
    texts = Rows(torch.randn(pairs, TEXT, generator=random))
    size = 0 if settings.image.encoder == "tuned" else IMAGE
    plan = Plan(settings.image, settings.text, settings.head, size, TEXT)
    numbers = np.arange(pairs)
    samples = Samples(numbers, numbers, numbers)
    loss = build_loss(settings)
    near = (numbers[:, None] + np.arange(1, min(NEAR, pairs - 1) + 1)) % pairs
    torch.manual_seed(0)
    return Task(
        plan=plan,
        model=plan.model(),
        loss=loss,
        ids=[str(number) for number in numbers],
        images=images,
        texts=texts,
        train=samples,
        val=samples,
        near=near if "near" in loss.needs else None,
        meaning=None,
        look=None,
        remarks=(),
    )


class Ours:
    """Our loop, an epoch at a time; `losses` are those of the steps of the last one."""

    def __init__(self, made: Task, settings: Experiment, folder: Path) -> None:
        fabric = Fabric(accelerator="cpu", devices=1)
        self.losses: list[float] = []
        self.total = 0.0
        self.loop = Loop(made, settings, 0, folder, fabric, {}, self._note)

    def epoch(self, number: int) -> None:
        self.losses, self.total = [], 0.0
        self.loop.progress = Progress(number, rate=self.loop.progress.rate)
        with deterministic_algorithms():
            self.loop._epoch()

    def _note(self, progress: Progress, steps: int, found: dict[str, float]) -> None:
        self.losses.append(progress.total - self.total)
        self.total = progress.total


class Plain(nn.Module):
    """Two linear maps and the losses of paper 004, as short as they can be written."""

    def __init__(self, made: Task, settings: Experiment) -> None:
        super().__init__()
        wanted, size = settings.training, settings.head.size
        self.image, self.text = nn.Linear(IMAGE, size), nn.Linear(TEXT, size)
        with torch.no_grad():
            for mine, tower in ((self.image, made.model.image), (self.text, made.model.text)):
                mine.load_state_dict(tower.head.map.state_dict())
        self.images, self.texts, self.near = made.images.values, made.texts.values, made.near
        self.samples, self.clip, self.loss = made.train, wanted.clip, dict(settings.loss)
        self.adam = torch.optim.Adam(
            self.parameters(), wanted.learning_rate, weight_decay=wanted.weight_decay
        )
        self.losses: list[float] = []

    def epoch(self, number: int) -> None:
        self.losses, own = [], torch.eye(BATCH, dtype=torch.bool)
        order = torch.from_numpy(self.samples.order(0, number, BATCH))
        near = None if self.near is None else torch.from_numpy(drawn(self.near, 0, number)[0])
        for rows in order:
            loss = self._loss(rows, None if near is None else near[rows], own)
            self.adam.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.parameters(), self.clip)
            self.adam.step()
            self.losses.append(loss.item())

    def _loss(self, rows: Tensor, near: Tensor | None, own: Tensor) -> Tensor:
        both = rows if near is None else torch.cat([rows, near])
        image = functional.normalize(self.image(self.images[both]))
        text = functional.normalize(self.text(self.texts[both]))
        a, b = image[:BATCH], text[:BATCH]
        loss = angular(a, b, b, own) + angular(b, a, a, own)
        if near is None:
            return loss.mean()
        beside = own | (near[:, None] == rows)
        loss = loss + self.loss["text"] * angular(b, text[BATCH:], b, beside)
        return (loss + self.loss["image"] * angular(a, image[BATCH:], a, beside)).mean()


def angular(anchor: Tensor, positive: Tensor, others: Tensor, left_out: Tensor) -> Tensor:
    """At 45 degrees: log(1 + Σ exp(4 (a + p) n - 4 a p))."""
    f = 4 * (anchor + positive) @ others.T - 4 * (anchor * positive).sum(1, keepdim=True)
    f = f.masked_fill(left_out, -torch.inf)
    return torch.cat([f.new_zeros(len(f), 1), f], 1).logsumexp(1)


def frozen(name: str, full: bool) -> dict[str, Any]:
    """Steps on frozen features."""
    settings, pairs = recipe(name), 64_000 if full else 12_800
    features = torch.randn(pairs, IMAGE, generator=torch.Generator().manual_seed(1))
    with tempfile.TemporaryDirectory() as folder:
        made = task(settings, Rows(features), pairs)
        theirs = Plain(made, settings)
        ours = Ours(made, settings, Path(folder))
        sides = (ours.epoch, theirs.epoch)
        times = []
        for number in range(REPEATS + 1):
            times.append([measured(partial(side, number)) for side in sides])
            difference = np.abs(np.subtract(ours.losses, theirs.losses)).max()
            assert difference < 1e-5, f"{name}: losses of epoch {number} differ by {difference}"
    steps = len(ours.losses)
    against = "the same in plain PyTorch, written by hand"
    work = f"{steps:,} steps of {BATCH} pairs, recipe {name}, features of {IMAGE} and {TEXT}"
    return case(times[1:], against, work) | {"steps": steps}


def tuned(full: bool) -> dict[str, Any]:
    """Pictures a second, from files to new weights."""
    settings, pictures = recipe("angular", "tuned"), 640 if full else 192
    settings = Experiment(
        image=settings.image,
        text=settings.text,
        loss=settings.loss,
    )
    with tempfile.TemporaryDirectory() as folder:
        paths = make_photos(Path(folder), pictures)
        store = FolderImages(Path(folder), pa.chunked_array([[path.name for path in paths]]))
        images = Pixels(store, np.arange(pictures), 224, True, 0)
        made = task(settings, images, pictures)
        ours = Ours(made, settings, Path(folder))
        bare = Tuned("efficientnet-lite0", 0.0).train()
        sides = (ours.epoch, lambda number: forward_backward(bare.network, pictures))
        times = [[measured(partial(side, number)) for side in sides] for number in range(3)]
    against = "the network alone, forward and backward, on random tensors"
    work = f"{pictures} JPEG files of 640x480, batches of {BATCH}, EfficientNet-Lite0"
    return case(times, against, work)


def forward_backward(network: Any, pictures: int) -> None:
    values = torch.randn(BATCH, 3, 224, 224)
    for _ in range(pictures // BATCH):
        network.zero_grad()
        network.extract_features(values).mean((2, 3)).sum().backward()


def measured(work: Callable[[], None]) -> Times:
    started, used = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - started, time.process_time() - used


def case(times: list[list[Times]], against: str, work: str) -> dict[str, Any]:
    (ours, ours_used), (theirs, theirs_used) = (
        [median(column) for column in zip(*side, strict=True)] for side in zip(*times, strict=True)
    )
    return {
        "ratio": theirs / ours,
        "cpu_ratio": theirs_used / ours_used,
        "better": "higher",
        "ours": ours,
        "theirs": theirs,
        "against": against,
        "work": work,
    }

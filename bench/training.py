"""Training against loops as anyone would write them: what ours adds must cost little.

On frozen features the other side is the same model, loss, optimizer and batches in plain PyTorch,
without checks, seeds, masks of duplicates, progress or savings; losses are compared step by step
before any time is told. Sides take turns, with one thread each: where others use the machine,
several mostly wait for each other.

Fine-tuning on JPEG files is held against the bare network, forward and backward, on random tensors
in the faster of the two orders in memory; what comes on top is decoding, heads, loss and optimizer.
Either side has the whole machine, and decoding competes for it. `ratio` is against the network as
it comes. Ours trains a quicker form of it (`trope.encoders.folding`): `ratio_to_folded` is against
that form alone, so that it cannot hide what the rest costs. A first pass of all sides warms up and
does not count. `cpu_ratio` is that of processor times, processes that decode included.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from lightning_fabric import Fabric
from torch import Tensor, nn
from torch.nn import functional

from bench import recurrence
from bench.decoding import make_photos
from trope.data.samples import Samples, drawn
from trope.data.stores import FolderImages
from trope.encoders import ImageSettings, Plan, TextSettings
from trope.encoders.folding import fold
from trope.encoders.inputs import Inputs, Rows
from trope.encoders.pixels import Pixels
from trope.features.backbones import efficientnet
from trope.features.backbones.outputs import one_core_each
from trope.training.loop import Loop
from trope.training.recipes import load_recipe
from trope.training.screen import Screen
from trope.training.settings import Recipe
from trope.training.state import Progress
from trope.training.task import Task, build_loss
from trope.training.train import deterministic_algorithms

IMAGE, TEXT, NEAR = 1280, 384, 200
PAIRS, REPEATS = 6_400, 7
PICTURES, PASSES, TUNED_BATCH, SIZE = 384, 3, 32, 224

Epoch = Callable[[int], None]
Times = tuple[float, float]  # seconds on the wall, and of processors


def recipe(name: str, image: ImageSettings) -> Recipe:
    """A recipe's loss and training, with vectors of sentences for texts."""
    return replace(load_recipe(name), image=image, text=TextSettings("sentence"))


def task(settings: Recipe, images: Inputs, pairs: int) -> Task:
    """So many pairs, all different; texts and neighbors are made up."""
    loss, numbers = build_loss(settings), np.arange(pairs)
    near = (numbers[:, None] + np.arange(1, NEAR + 1)) % pairs
    samples = Samples(numbers, numbers, numbers)
    plan = Plan(settings.image, settings.text, settings.head, IMAGE, TEXT)
    return Task(
        plan=plan,
        model=plan.model(0),
        loss=loss,
        ids=[str(number) for number in numbers],
        images=images,
        texts=Rows(torch.randn(pairs, TEXT, generator=torch.Generator().manual_seed(2))),
        train=samples,
        val=samples,
        near=near if loss.needs & {"near-text", "near-image"} else None,
        meaning=None,
        look=None,
        remarks=(),
    )


class Ours:
    """Our loop, an epoch at a time; `losses` are those of the last epoch's steps."""

    def __init__(self, made: Task, settings: Recipe, folder: str) -> None:
        fabric = Fabric(accelerator="cpu", devices=1)
        self.screen, self.losses = Screen(1, quiet=True), [0.0]
        self.loop = Loop(made, settings, 0, Path(folder), fabric, {}, self._report)

    def epoch(self, number: int) -> None:
        self.loop.progress, self.losses = replace(self.loop.progress, epoch=number, step=0), []
        self.loop.progress.total = 0.0
        with deterministic_algorithms():
            self.loop._epoch()

    def _report(self, progress: Progress, steps: int, found: dict[str, float]) -> None:
        self.losses.append(progress.total - sum(self.losses))
        self.screen.report(progress, steps, found)


class Plain(nn.Module):
    """Two linear maps and the losses of paper 004, as short as they can be written."""

    def __init__(self, made: Task, settings: Recipe, fused: bool | None = None) -> None:
        super().__init__()
        self.image, self.text = nn.Linear(IMAGE, 256), nn.Linear(TEXT, 256)
        self.image.load_state_dict(made.model.image.head.map.state_dict())
        self.text.load_state_dict(made.model.text.head.map.state_dict())
        self.made, self.weights, self.wanted = made, dict(settings.loss), settings.training
        self.losses: list[float] = []
        self.adam = torch.optim.Adam(
            self.parameters(),
            self.wanted.learning_rate,
            weight_decay=self.wanted.weight_decay,
            fused=fused,
        )

    def epoch(self, number: int) -> None:
        self.losses = []
        near = None if self.made.near is None else drawn(self.made.near, 0, number)[0]
        for rows in self.made.train.order(0, number, self.wanted.batch):
            loss = self._loss(rows, None if near is None else near[rows])
            self.adam.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(self.parameters(), self.wanted.clip)
            self.adam.step()
            self.losses.append(loss.item())

    def _loss(self, rows: np.ndarray, near: np.ndarray | None) -> Tensor:
        both = torch.from_numpy(rows if near is None else np.concatenate([rows, near]))
        image = functional.normalize(self.image(self.made.images.values[both]))
        text = functional.normalize(self.text(self.made.texts.values[both]))
        a, b, own = image[: len(rows)], text[: len(rows)], torch.eye(len(rows), dtype=torch.bool)
        loss = angular(a, b, b, own) + angular(b, a, a, own)
        if near is None:
            return loss.mean()
        own = own | torch.from_numpy(near[:, None] == rows)
        loss = loss + self.weights["text"] * angular(b, text[len(rows) :], b, own)
        return (loss + self.weights["image"] * angular(a, image[len(rows) :], a, own)).mean()


def angular(anchor: Tensor, positive: Tensor, others: Tensor, left_out: Tensor) -> Tensor:
    """At 45 degrees: log(1 + Σ exp(4 (a + p) n - 4 a p))."""
    f = 4 * (anchor + positive) @ others.T - 4 * (anchor * positive).sum(1, keepdim=True)
    f = f.masked_fill(left_out, -torch.inf)
    return torch.cat([f.new_zeros(len(f), 1), f], 1).logsumexp(1)


def frozen(name: str, full: bool) -> dict[str, Any]:
    """Steps on frozen features."""
    settings, pairs = recipe(name, ImageSettings()), 10 * PAIRS if full else PAIRS
    features = torch.randn(pairs, IMAGE, generator=torch.Generator().manual_seed(1))
    with tempfile.TemporaryDirectory() as folder, one_core_each():
        made = task(settings, Rows(features), pairs)
        theirs, fused = Plain(made, settings), Plain(made, settings, fused=True)
        ours = Ours(made, settings, folder)
        times = []
        for number in range(REPEATS + 1):
            times.append(in_turn([ours.epoch, theirs.epoch, fused.epoch], number))
            apart = np.abs(np.subtract(ours.losses, theirs.losses)).max()
            assert apart < 1e-5, f"{name}: losses of epoch {number} differ by {apart}"
    steps, batch = len(ours.losses), settings.training.batch
    work = f"{steps:,} steps of {batch} pairs, recipe {name}, features of {IMAGE} and {TEXT}"
    found = case(times[1:], "the same in plain PyTorch", work)
    (_, ours_used), _, (_, quicker) = np.median(np.array(times[1:]), axis=0).tolist()
    return found | {
        "steps_per_second": steps / found["ours"],
        "cpu_ratio_to_fused_adam": quicker / ours_used,
    }


def tuned(full: bool) -> dict[str, Any]:
    """Pictures a second, from files to new weights."""
    pictures = 5 * PICTURES if full else PICTURES
    settings = recipe("angular", ImageSettings("tuned"))
    settings = replace(settings, training=replace(settings.training, batch=TUNED_BATCH))
    with tempfile.TemporaryDirectory() as folder:
        names = [path.name for path in make_photos(Path(folder), pictures)]
        store = FolderImages(Path(folder), pa.chunked_array([names]))
        images = Pixels(store, np.arange(pictures), SIZE, flip=True, seed=0)
        ours = Ours(task(settings, images, pictures), settings, folder)
        alone = [partial(forward_backward, network(folded), pictures) for folded in (False, True)]
        sides = [ours.epoch, *alone]
        times = [in_turn(sides, number) for number in range(PASSES + 1)][1:]  # one to warm up
    work = f"{pictures} JPEG files of 640x480 in batches of {TUNED_BATCH}, EfficientNet-Lite0; "
    work += "the start of the processes that decode is in it"
    work += "; ratio_to_folded is against the folded network, which is the one that ours trains"
    against = "the network alone as it comes, forward and backward, on random tensors"
    found = case(times, against, work)
    (wall, used), _, (folded_wall, folded_used) = np.median(np.array(times), axis=0).tolist()
    return found | {
        "images_per_second": pictures / wall,
        "ratio_to_folded": folded_wall / wall,
        "cpu_ratio_to_folded": folded_used / used,
    }


def network(folded: bool) -> Any:
    """As it comes, or as we train it; both with fixed statistics and without dropped blocks."""
    made = efficientnet.network()
    if folded:
        fold(made)
    return made


def forward_backward(network: Any, pictures: int, number: int) -> None:
    """The least that training a network takes."""
    values = torch.randn(TUNED_BATCH, SIZE, SIZE, 3).permute(0, 3, 1, 2)
    for _ in range(pictures // TUNED_BATCH):
        network.zero_grad()
        network.extract_features(values).mean((2, 3)).sum().backward()


def in_turn(sides: list[Epoch], number: int) -> list[Times]:
    return [measured(side, number) for side in sides]


def measured(side: Epoch, number: int) -> Times:
    """Seconds on the wall, and of processors."""
    started, used = time.perf_counter(), processors()
    side(number)
    return time.perf_counter() - started, processors() - used


def processors() -> float:
    """Children count when they have ended, as workers have after an epoch."""
    return time.process_time() + sum(os.times()[2:4])


def case(times: list[list[Times]], against: str, work: str) -> dict[str, Any]:
    """The first two sides by their medians."""
    sides = [np.median(np.array(side), axis=0) for side in zip(*times, strict=True)]
    (ours, ours_used), (theirs, theirs_used) = (side.tolist() for side in sides[:2])
    return {
        "ratio": theirs / ours,
        "cpu_ratio": theirs_used / ours_used,
        "better": "higher",
        "ours": ours,
        "theirs": theirs,
        "against": against,
        "work": work,
    }


CASES: dict[str, Callable[[bool], dict[str, Any]]] = {
    "frozen-angular": partial(frozen, "angular"),
    "frozen-neighborhoods": partial(frozen, "neighborhoods"),
    "tuned": tuned,
    "gru": recurrence.gru,
}

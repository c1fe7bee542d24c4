"""From the numbers of a batch to the view that a loss takes, over all processes together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from lightning_fabric import Fabric
from torch import Tensor
from torch.nn.functional import pad

from trope.data.samples import drawn
from trope.encoders.inputs import Tensors
from trope.encoders.joining import Packed, packed, unpacked
from trope.losses import PENALTIES
from trope.training.task import Task
from trope.views import Encoded, Near, View

Batch = Int[np.ndarray, " batch"]


class Step(NamedTuple):
    """One batch of all processes: its pairs, their neighbors, and the inputs of this process."""

    number: int
    pairs: Batch
    near: Batch | None
    there: Bool[np.ndarray, " batch"] | None
    images: Tensors
    texts: Tensors


@dataclass(frozen=True, eq=False)
class Steps:
    """The steps of one epoch, for one of several processes; they are the same whoever asks.

    Each process encodes its part of every batch and sees the points of the whole.
    """

    task: Task
    seed: int
    epoch: int
    batch: int
    fabric: Fabric

    def __len__(self) -> int:
        return len(self.task.train) // self.size

    @property
    def size(self) -> int:
        """The pairs of a step, of all processes together."""
        return self.task.train.size(self.batch, self.fabric.world_size)

    def steps(self, first: int = 0) -> Iterator[Step]:
        """From the given one on."""
        train, world = self.task.train, self.fabric.world_size
        order = train.order(self.seed, self.epoch, self.batch, world)[first:]
        near, there = self._near()
        needs, mine = self.task.loss.needs, [self._mine(row) for row in order]
        images = [train.images[_both(row, near, "near-image" in needs)] for row in mine]
        texts = [train.texts[_both(row, near, "near-text" in needs)] for row in mine]
        inputs = zip(
            order,
            self.task.images.batches(images, self.epoch),
            self.task.texts.batches(texts, self.epoch),
            strict=True,
        )
        for i, (row, image, text) in enumerate(inputs):
            beside = None if near is None else near[row]
            yield Step(first + i, row, beside, None if there is None else there[row], image, text)

    def _near(
        self,
    ) -> tuple[Int[np.ndarray, " samples"] | None, Bool[np.ndarray, " samples"] | None]:
        if self.task.near is None:
            return None, None
        return drawn(self.task.near, self.seed, self.epoch)

    def _mine(self, row: Batch) -> Batch:
        """This process's part of a batch; all parts have one size."""
        size = len(row) // self.fabric.world_size
        return row[self.fabric.global_rank * size : (self.fabric.global_rank + 1) * size]


def _both(
    row: Batch, near: Int[np.ndarray, " samples"] | None, needed: bool
) -> Int[np.ndarray, " both"]:
    """The pairs, then their neighbors, where the loss needs those of this modality."""
    return np.concatenate([row, near[row]]) if needed and near is not None else row


def seen(task: Task, step: Step, images: Packed, texts: Packed, fabric: Fabric) -> View:
    """The whole batch as its loss sees it: points gathered from all processes, with gradients.

    What a scorer draws must be the same in each: it compares the whole batch in every one.
    """
    size = len(step.pairs) // fabric.world_size
    image, near_image = _gathered(images, size, fabric)
    text, near_text = _gathered(texts, size, fabric)
    device = image.mean.device
    same = _tensor(task.train.same(step.pairs, step.pairs), device)
    near = None
    if step.near is not None and step.there is not None:
        beside = _tensor(task.train.same(step.near, step.pairs), device)
        near = Near(near_image, near_text, beside, _tensor(step.there, device))
    relevance = None if task.relevance is None else task.relevance.block(step.pairs).to(device)
    return View(
        image,
        text,
        same,
        near,
        _rows(task.meaning, step, device),
        _rows(task.look, step, device),
        relevance=relevance,
        scores=_scores(task, image, text, fabric),
        odds=None if task.model.scorer is None else task.model.scorer.odds,
        labels=None if task.labels is None else task.labels.of("train", step.pairs, device),
    )


def _scores(
    task: Task, image: Encoded, text: Encoded, fabric: Fabric
) -> Float[Tensor, "n n"] | None:
    """Of a model that compares pairs itself: each process scores its images with all texts.

    One that draws random numbers, which are the same in all processes, scores all pairs in each.
    """
    scorer = task.model.scorer
    if scorer is None:
        return None
    if fabric.world_size > 1 and not scorer.draws:
        size = len(image.mean) // fabric.world_size
        mine = torch.arange(size, device=image.mean.device) + fabric.global_rank * size
        image = image.take(mine)
    with fabric.autocast():
        found: Tensor = scorer(image, text)
    found = found.to(image.mean.dtype)
    return found if scorer.draws else _all(found, fabric)


def penalized(
    view: View, per_pair: Float[Tensor, " n"], penalties: dict[str, float]
) -> Float[Tensor, ""]:
    """The mean over pairs, and what the batch as a whole is charged with."""
    total = per_pair.mean()
    for name, weight in penalties.items():
        total = total + weight * PENALTIES[name](view)
    return total


def _gathered(values: Packed, size: int, fabric: Fabric) -> tuple[Encoded, Encoded | None]:
    """Pairs, and their neighbors where there are any, each in the order of the batch."""
    values = _padded(values, fabric)
    pairs = [None if value is None else value[:size] for value in values]
    near = [None if value is None else value[size:] for value in values]
    together = packed(tuple(_all(value, fabric) for value in pairs))
    if values[0] is None or len(values[0]) == size:
        return together, None
    return together, packed(tuple(_all(value, fabric) for value in near))


def _padded(values: Packed, fabric: Fabric) -> Packed:
    """Parts up to the most that any process has: only what has one shape can be gathered."""
    encoded = packed(values)
    if encoded.locals is None or fabric.world_size == 1:
        return values
    length = torch.tensor(encoded.locals.shape[1], device=encoded.mean.device)
    longest: Any = fabric.all_reduce(length, reduce_op="max")
    more = int(longest) - encoded.locals.shape[1]
    present = None if encoded.present is None else pad(encoded.present, (0, more))
    return unpacked(replace(encoded, locals=pad(encoded.locals, (0, 0, 0, more)), present=present))


def _all(value: Tensor | None, fabric: Fabric) -> Tensor | None:
    if value is None or fabric.world_size == 1:
        return value
    gathered: Any = fabric.all_gather(value, sync_grads=value.is_floating_point())
    return torch.as_tensor(gathered).flatten(0, 1)


def _tensor(values: np.ndarray, device: torch.device) -> Tensor:
    return torch.from_numpy(np.ascontiguousarray(values)).to(device)


def _rows(values: Tensor | None, step: Step, device: torch.device) -> Tensor | None:
    return None if values is None else values[torch.from_numpy(step.pairs)].to(device)

"""How good the model is on pairs it was not trained on: loss and 5-way recall, in every epoch."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Bool

from trope.data.samples import Numbers, Samples
from trope.encoders import encode
from trope.metrics import places, recall_in_task
from trope.runtime import generator
from trope.similarity import similarity
from trope.training.task import Task
from trope.views import Encoded, View

MOST = 2_000  # pairs looked at
WAYS = 5


@dataclass(frozen=True)
class Validation:
    """The cross-modal loss of a pair, and the recall of both directions, each a mean."""

    loss: float
    image_to_text: float
    text_to_image: float

    @property
    def recall(self) -> float:
        """The mean of both directions."""
        return (self.image_to_text + self.text_to_image) / 2


def validate(task: Task, batch: int, seed: int) -> Validation:
    """Loss over fixed batches without neighbors, recall over all the pairs looked at."""
    rows = _chosen(task.val, seed)
    image = encode(task.model.image, task.images, task.val.images[rows])
    text = encode(task.model.text, task.texts, task.val.texts[rows])
    same = task.val.same(rows, rows)
    return Validation(
        _loss(task, image, text, same, batch),
        _recall(image, text, same),
        _recall(text, image, same),
    )


def _chosen(val: Samples, seed: int) -> Numbers:
    """In an order of their own: neighbors in a file are often of one story."""
    order = generator(seed, "validation").permutation(len(val))
    return np.asarray(order[:MOST])


@torch.no_grad()
def _loss(
    task: Task, image: Encoded, text: Encoded, same: Bool[np.ndarray, "n n"], batch: int
) -> float:
    task.loss.eval()
    total, count = 0.0, len(same)
    for start in range(0, count, batch):
        part = slice(start, start + batch)
        inside = torch.from_numpy(np.ascontiguousarray(same[part, part])).to(image.mean.device)
        view = View(_part(image, part), _part(text, part), inside)
        total += float(task.loss(view).sum())
    task.loss.train()
    return total / count


def _part(encoded: Encoded, part: slice) -> Encoded:
    points, residuals = encoded.points, encoded.residuals
    return Encoded(
        encoded.mean[part],
        None if points is None else points[part],
        None if residuals is None else residuals[part],
    )


def _recall(queries: Encoded, items: Encoded, same: Bool[np.ndarray, "n n"]) -> float:
    ways = min(WAYS, int((~same).sum(axis=1).min()) + 1)
    if ways < 2:
        return 1.0
    scores = similarity(queries, items).float().cpu().numpy()
    found = places(lambda rows: scores[rows], lambda rows: same[rows], len(scores), len(scores))
    return float(recall_in_task(found, ways).mean())

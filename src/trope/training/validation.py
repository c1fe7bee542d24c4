"""How good the model is on pairs it was not trained on: loss and 5-way recall, in every epoch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from trope.data.samples import Numbers, Samples
from trope.encoders import compare, encode
from trope.metrics import Places, recall_in_task
from trope.metrics.ndcg import ndcg
from trope.metrics.predictions import best_threshold, highest, micro_f1, micro_parts
from trope.runtime import generator
from trope.training.task import Task
from trope.views import Encoded, View

MOST = 2_000  # pairs looked at
SCORED = 500  # of a model that compares pairs itself, which takes far longer than cosines
WAYS = 5


@dataclass(frozen=True)
class Validation:
    """The cross-modal loss of a pair, and the recall of both directions, each a mean.

    Without recall where no pair has four others that are wrong for it. Where labels are predicted,
    NDCG by shared labels of both directions, if these differ, and micro-F1 of both modalities: each
    at the threshold that is best here, or of the label with the highest score where pairs have one.
    """

    loss: float
    image_to_text: float | None = None
    text_to_image: float | None = None
    ndcg_image_to_text: float | None = None
    ndcg_text_to_image: float | None = None
    f1_image: float | None = None
    f1_text: float | None = None

    @classmethod
    def noted(cls, line: Mapping[str, Any]) -> Validation:
        """As a line of a run's history has it."""
        names = [field.name for field in fields(cls)]
        return cls(**{name: line[f"val_{name}"] for name in names if f"val_{name}" in line})

    @property
    def recall(self) -> float | None:
        """The mean of both directions."""
        if self.image_to_text is None or self.text_to_image is None:
            return None
        return (self.image_to_text + self.text_to_image) / 2

    @property
    def ndcg(self) -> float | None:
        """The mean of both directions."""
        if self.ndcg_image_to_text is None or self.ndcg_text_to_image is None:
            return None
        return (self.ndcg_image_to_text + self.ndcg_text_to_image) / 2

    def chosen_by(self, select: str) -> float:
        """What the best model has most of; without NDCG recall, without that the lowest loss."""
        wanted = {"recall": [self.recall], "labels": [self.ndcg, self.recall]}.get(select, [])
        return next((found for found in wanted if found is not None), -self.loss)


def looked_at(task: Task) -> int:
    """How many validation pairs."""
    return min(len(task.val), MOST if task.model.scorer is None else SCORED)


def validate(task: Task, batch: int, seed: int) -> Validation:
    """Loss over fixed batches without neighbors, recall over all the pairs looked at.

    With relevance, where the loss ranks by it; and images and texts compared as the model will be
    asked, not as it is trained.
    """
    rows = chosen(task.val, seed)
    scorer, graded = task.model.scorer, task.val_relevance
    if scorer is not None:
        rows = rows[:SCORED]
    pictures, place = np.unique(task.val.images[rows], return_inverse=True)
    seen = encode(task.model.image, task.images, pictures)
    text = encode(task.model.text, task.texts, task.val.texts[rows])
    where = torch.from_numpy(place).to(seen.mean.device)
    found = compare(scorer, seen, text)[where]  # a picture of several texts is compared once
    same = task.val.same(rows, rows)
    labels = None if task.labels is None else task.labels.of("val", rows)
    view = View(
        seen.points_only().take(where),
        text.points_only(),
        torch.from_numpy(same).to(found.device),
        relevance=None if graded is None else graded.block(rows).to(found.device),
        scores=None if scorer is None else found,
        odds=None if scorer is None else scorer.odds,
        labels=None if labels is None else labels.to(found.device),
    )
    scores = found.float().cpu().numpy()
    by_labels: dict[str, float] = {}
    if task.labels is not None and labels is not None:
        single = task.labels.single
        by_labels = labeled(scores, view.image, view.text, labels.numpy(), single)
    return Validation(
        _loss(task, view, batch),
        recall(scores, same),
        recall(scores.T, same),
        **by_labels,
    )


def labeled(
    scores: Float[np.ndarray, "n n"],
    image: Encoded,
    text: Encoded,
    labels: Bool[np.ndarray, "n labels"],
    single: bool = False,
) -> dict[str, float]:
    """NDCG of the pairs that have labels among each other, and micro-F1; nothing without labels.

    No NDCG where all these labels are the same: it is 1 then, whatever the model. Of data in which
    pairs have a `single` label one is predicted, as in evaluation.
    """
    known = np.flatnonzero(labels.any(axis=1))
    if not len(known):
        return {}
    right, among = labels[known], scores[np.ix_(known, known)]
    gains = (right.astype(np.float32) @ right.T.astype(np.float32)).astype(np.int32)
    found = {}
    ways = (("image_to_text", among), ("text_to_image", among.T)) if differing(labels) else ()
    for name, table in ways:
        order = np.argsort(-table, axis=1, kind="stable").astype(np.int32)
        found[f"ndcg_{name}"] = float(ndcg(gains, order, [len(known)], 0.0).mean())
    for name, items in (("image", image), ("text", text)):
        assert items.logits is not None
        guessed = torch.sigmoid(items.logits.float()).cpu().numpy()[known]
        if single:
            found[f"f1_{name}"] = float(micro_parts(highest(guessed), right).mean())
        else:
            found[f"f1_{name}"] = micro_f1(guessed, right, best_threshold(guessed, right))
    return found


def differing(labels: Bool[np.ndarray, "n labels"]) -> bool:
    """Whether two pairs that have labels have different ones: one shares more with itself then."""
    right = labels[labels.any(axis=1)]
    return bool((right != right[:1]).any())


def comparable(val: Samples, seed: int) -> bool:
    """Whether any pair has another that is wrong for it, without which a loss says nothing."""
    rows = chosen(val, seed)
    return not bool(val.same(rows, rows).all())


def measurable(val: Samples, seed: int) -> bool:
    """Whether there are pairs enough for a recall."""
    rows = chosen(val, seed)
    return bool(((~val.same(rows, rows)).sum(axis=1) >= WAYS - 1).any())


def recall(scores: Float[np.ndarray, "n n"], same: Bool[np.ndarray, "n n"]) -> float | None:
    """How often a pair's own item is first among five, the other four wrong for its query.

    Other items that are right too are left out: the best of several right ones would be first more
    often by chance alone.
    """
    enough = (~same).sum(axis=1) >= WAYS - 1
    if not enough.any():
        return None
    own, wrong = np.diag(scores)[enough, None], ~same[enough]
    above = (wrong & (scores[enough] > own)).sum(axis=1)
    tied = (wrong & (scores[enough] == own)).sum(axis=1)
    return float(recall_in_task(Places(wrong.sum(axis=1), above, tied), WAYS).mean())


def chosen(val: Samples, seed: int) -> Numbers:
    """In an order of their own: neighbors in a file are often of one story."""
    order = generator(seed, "validation").permutation(len(val))
    return np.asarray(order[:MOST])


@torch.no_grad()
def _loss(task: Task, view: View, batch: int) -> float:
    """The mean over pairs, in batches of their order."""
    task.loss.eval()
    total, count = 0.0, len(view.same)
    for rows in torch.split(torch.arange(count, device=view.same.device), batch):
        total += float(task.loss(_part(view, rows)).sum())
    task.loss.train()
    return total / count


def _part(view: View, rows: Int[Tensor, " rows"]) -> View:
    """Some pairs of a view, with what validation has of them."""
    relevance, scores = (
        None if values is None else values[rows][:, rows]
        for values in (view.relevance, view.scores)
    )
    return View(
        view.image.take(rows),
        view.text.take(rows),
        view.same[rows][:, rows],
        relevance=relevance,
        scores=scores,
        odds=view.odds,
        labels=None if view.labels is None else view.labels[rows],
    )

"""Losses against pytorch-metric-learning's on equal inputs, forward and backward, both directions.

Values and gradients are compared before any time is told; times are taken in turns. Both sides get
the same unit vectors, and the peer is spared normalizing them again where it allows that. A case is
timed at batches of 64, 256 and 1024 (and ours alone at 4096 with SCALE=full) and tells the worst
ratio; all are in its `batches`. Memory is what tensors hold at most beyond the inputs. Peers that
would need gigabytes at 1024 are not run there.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from statistics import median
from typing import Any

import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from trope.losses.angular import Angular
from trope.losses.infonce import InfoNCE
from trope.losses.loss import Loss
from trope.losses.npairs import NPairs
from trope.losses.triplet import Triplet
from trope.maths import normalize
from trope.views import Encoded, Near, View

BATCHES = (64, 256, 1024)
SIZE = 256
REPEATS = 7
PEER = "pytorch-metric-learning"

Step = Callable[[], Tensor]


class Inputs:
    """Vectors of n pairs, and what either side needs beside them; a neighbor is the next."""

    def __init__(self, n: int) -> None:
        random = torch.Generator().manual_seed(0)
        self.leaves = [torch.randn(n, SIZE, generator=random).requires_grad_() for _ in range(2)]
        self.labels, self.other_labels = torch.arange(n), torch.arange(n)
        self.turn = self.labels.roll(1)
        self.same = torch.eye(n, dtype=torch.bool)

    def vectors(self) -> tuple[Tensor, Tensor]:
        image, text = map(normalize, self.leaves)
        return image, text

    def view(self) -> View:
        image, text = self.vectors()
        near = Near(Encoded(image[self.turn]), Encoded(text[self.turn]), ~self.same & self.same)
        return View(Encoded(image), Encoded(text), self.same, near)

    def both_ways(self, peer: Callable[..., Tensor]) -> Tensor:
        image, text = self.vectors()
        labels = {"labels": self.labels, "ref_labels": self.other_labels}
        return peer(image, ref_emb=text, **labels) + peer(text, ref_emb=image, **labels)


def _gradients(inputs: Inputs, step: Step) -> tuple[Tensor, list[Tensor]]:
    """One step from clean gradients: its value, and the gradient of each input."""
    for leaf in inputs.leaves:
        leaf.grad = None
    loss = step()
    loss.backward()
    found = [torch.zeros_like(leaf) if leaf.grad is None else leaf.grad for leaf in inputs.leaves]
    return loss.detach(), found


def _seconds(inputs: Inputs, sides: list[Step]) -> list[float]:
    """Seconds of one step of each side, the sides taking turns."""
    times = [[_timed(inputs, step) for step in sides] for _ in range(REPEATS)]
    return [median(column) for column in zip(*times, strict=True)]


def _timed(inputs: Inputs, step: Step) -> float:
    """Seconds of one step, from as many as fill a fiftieth of a second."""
    started, steps, spent = time.perf_counter(), 0, 0.0
    while spent < 0.02:
        _gradients(inputs, step)
        steps, spent = steps + 1, time.perf_counter() - started
    return spent / steps


def peak_mb(inputs: Inputs, step: Step) -> float:
    """The most that tensors hold during a step, beyond what was there before it."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as watched:
        _gradients(inputs, step)
    held = largest = 0
    for event in watched.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            largest = max(largest, held)
    return largest / 1e6


def _compare(
    loss: Loss, theirs: Callable[[Inputs], Tensor], name: str, full: bool, largest: int = 1024
) -> dict[str, Any]:
    """Both sides at each batch; the case is that of the worst ratio."""
    batches = []
    for n in (*BATCHES, 4096) if full else BATCHES:
        inputs = Inputs(n)
        ours, peer = partial(_mean, loss, inputs), partial(theirs, inputs)
        row: dict[str, Any] = {"batch": n, "memory_mb": peak_mb(inputs, ours)}
        if n <= largest:
            _check(inputs, ours, peer, f"{name} at {n}")
            row["ours"], row["theirs"] = _seconds(inputs, [ours, peer])
            row["ratio"] = row["theirs"] / row["ours"]
            row["memory_theirs_mb"] = peak_mb(inputs, peer)
        else:
            row["ours"] = _seconds(inputs, [ours])[0]
        batches.append(row)
    return _case(batches, name)


def _mean(loss: Loss, inputs: Inputs) -> Tensor:
    return loss(inputs.view()).mean()


def _check(inputs: Inputs, ours: Step, theirs: Step, what: str) -> None:
    (value, mine), (other, others) = _gradients(inputs, ours), _gradients(inputs, theirs)
    assert torch.allclose(value, other, rtol=1e-4), f"{what}: {value} and {other}"
    pairs = zip(mine, others, strict=True)
    assert all(torch.allclose(a, b, rtol=1e-2, atol=1e-6) for a, b in pairs), f"{what}: gradients"


def _case(batches: list[dict[str, Any]], name: str) -> dict[str, Any]:
    """Times of a thousand steps: one is too short for a table in seconds."""
    worst = min((row for row in batches if "ratio" in row), key=lambda row: row["ratio"])
    memory = ", ".join(f"{row['memory_mb']:,.1f} MB at {row['batch']}" for row in batches)
    sizes = ", ".join(str(row["batch"]) for row in batches if "ratio" in row)
    return {
        "ratio": worst["ratio"],
        "better": "higher",
        "ours": 1000 * worst["ours"],
        "theirs": 1000 * worst["theirs"],
        "against": f"{PEER}'s {name}",
        "work": f"1,000 steps of {worst['batch']} pairs, the worst of {sizes}; {memory}",
        "peak_memory_mb": batches[-1]["memory_mb"],
        "batches": batches,
    }


def _dot_product() -> Any:
    from pytorch_metric_learning.distances import DotProductSimilarity

    return DotProductSimilarity(normalize_embeddings=False)


def triplet(full: bool) -> dict[str, Any]:
    """Triplet loss over all negatives."""
    from pytorch_metric_learning.losses import TripletMarginLoss
    from pytorch_metric_learning.reducers import MeanReducer

    peer = TripletMarginLoss(0.1, distance=_dot_product(), reducer=MeanReducer())

    def theirs(inputs: Inputs) -> Tensor:
        n = len(inputs.labels)
        return inputs.both_ways(peer) * (n - 1) / n  # ours divides by n, theirs by the negatives

    return _compare(Triplet(), theirs, "TripletMarginLoss", full, largest=256)


def hard_negative(full: bool) -> dict[str, Any]:
    """Triplet loss over the hardest negative."""
    from pytorch_metric_learning.losses import TripletMarginLoss
    from pytorch_metric_learning.miners import BatchHardMiner
    from pytorch_metric_learning.reducers import MeanReducer

    miner = BatchHardMiner(distance=_dot_product())
    peer = TripletMarginLoss(0.2, distance=_dot_product(), reducer=MeanReducer())

    def hardest(one: Tensor, labels: Tensor, ref_emb: Tensor, ref_labels: Tensor) -> Tensor:
        found = miner(one, labels, ref_emb, ref_labels)
        return peer(one, labels, found, ref_emb=ref_emb, ref_labels=ref_labels)

    loss = Triplet(margin=0.2, hard=True)
    return _compare(loss, lambda inputs: inputs.both_ways(hardest), "BatchHardMiner", full)


def angular(full: bool) -> dict[str, Any]:
    """Angular loss in its smooth form."""
    from pytorch_metric_learning.losses import AngularLoss

    peer = AngularLoss(45)
    return _compare(Angular(), lambda inputs: inputs.both_ways(peer), "AngularLoss", full)


def neighborhoods(full: bool) -> dict[str, Any]:
    """All four n-pairs terms: both directions, and the neighbors of texts and of images.

    Neighbors are other pairs of the batch, which both sides here also take as negatives.
    """
    from pytorch_metric_learning.losses import AngularLoss

    peer = AngularLoss(45)

    def within(inputs: Inputs, items: Tensor) -> Tensor:
        pairs = (inputs.labels, inputs.turn, inputs.labels, inputs.turn)
        return peer(items, inputs.labels, pairs, items, inputs.other_labels)

    def theirs(inputs: Inputs) -> Tensor:
        image, text = inputs.vectors()
        loss = inputs.both_ways(peer) + 0.2 * within(inputs, text)
        return loss + 0.3 * within(inputs, image)

    return _compare(Angular(text=0.2, image=0.3), theirs, "AngularLoss, four times", full)


def npairs(full: bool) -> dict[str, Any]:
    """N-pairs loss on vectors of length one."""
    from pytorch_metric_learning.losses import NPairsLoss

    peer = NPairsLoss(distance=_dot_product())

    def theirs(inputs: Inputs) -> Tensor:
        labels, (image, text) = inputs.labels.repeat(2), inputs.vectors()
        return peer(torch.cat([image, text]), labels) + peer(torch.cat([text, image]), labels)

    return _compare(NPairs(scale=1.0), theirs, "NPairsLoss", full)


def infonce(full: bool) -> dict[str, Any]:
    """InfoNCE; ours also learns its temperature."""
    from pytorch_metric_learning.losses import NTXentLoss

    peer = NTXentLoss(0.07, distance=_dot_product())
    return _compare(
        InfoNCE(), lambda inputs: inputs.both_ways(peer), "NTXentLoss", full, largest=256
    )


CASES = {
    "triplet": triplet,
    "hard-negative": hard_negative,
    "angular": angular,
    "neighborhoods": neighborhoods,
    "npairs": npairs,
    "infonce": infonce,
}

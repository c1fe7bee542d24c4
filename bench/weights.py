"""Weights of pairs: what they add to an epoch, against N² products one by one, and how they grow.

An epoch of `diversity`, `discrepancy` and `combined-stats` against PVSE with uniform weights: same
model (GRU, two senses, cells of frozen pictures; settings for small data, whose steps are short),
batches and loop, N = 200. On top come the bank and, at the end of the epoch, the measures of all
pairs. Losses of the first epoch, which has equal weights, are compared step by step. Sides take
turns with one thread each; `cpu_ratio` is that of processor times, which others on the machine
disturb less.

The literal form takes all N² products of a pair, as the formulas of the paper are written, by
matrix products; a few hundred pairs are timed and compared, the rest is extrapolated. `growth` is
ours alone: seconds a pair at the largest size over those at the smallest; SCALE=full goes to a
million pairs. Both tell processor seconds.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor

from bench.memory import memory_mb
from bench.training import Ours, in_turn
from trope.data.samples import Samples
from trope.encoders import Plan
from trope.encoders.inputs import Items, Tensors, Words
from trope.features.backbones.outputs import one_core_each
from trope.neighbors import Chain
from trope.training.recipes import load_recipe, resolve
from trope.training.settings import Recipe
from trope.training.task import Task, build_loss, build_weight
from trope.weights import chain_of, measured

NEAR, SIZE = 200, 256
PAIRS, REPEATS, PICTURES, CELLS, CHANNELS, VOCABULARY = 3_200, 3, 256, 9, 1280, 4_000
ROWS, SAMPLE = 20_000, 300
SIZES, LARGER = (10_000, 30_000, 100_000), (300_000, 1_000_000)
CLUSTER = 400  # pairs that may be each other's neighbors


class Cells:
    """Features of pictures, of which there are a few; pair i has those of i modulo their number."""

    def __init__(self, pairs: int) -> None:
        random = torch.Generator().manual_seed(1)
        self.values: Tensor = torch.randn(PICTURES, CELLS, CHANNELS, generator=random)
        self.pairs = pairs

    def __len__(self) -> int:
        return self.pairs

    def batches(self, chosen: Iterable[Items], epoch: int | None) -> Iterator[Tensors]:
        for items in chosen:
            yield (self.values[torch.from_numpy(items % PICTURES)],)


def near(rows: int) -> np.ndarray:
    """Neighbors within clusters whose members stand anywhere, as in data in any order."""
    random = np.random.default_rng(0)
    members = random.permutation(rows)
    ids = np.empty((rows, NEAR), np.int32)
    for first in range(0, rows, CLUSTER):
        own = members[first : first + CLUSTER] if rows - first >= 2 * CLUSTER else members[first:]
        steps = np.sort(random.choice(len(own) - 1, NEAR, replace=False)) + 1
        ids[own] = own[(np.arange(len(own))[:, None] + steps) % len(own)]
        if len(own) > CLUSTER:
            break
    return ids


def vectors(rows: int) -> np.ndarray:
    random = np.random.default_rng(1)
    found = random.standard_normal((rows, SIZE), np.float32)
    found /= np.linalg.norm(found, axis=1, keepdims=True)
    return found


def task(settings: Recipe, pairs: int) -> Task:
    """So many pairs, all different; pictures, texts and neighbors are made up."""
    numbers, random = np.arange(pairs), np.random.default_rng(2)
    lengths = random.lognormal(np.log(26), 0.6, pairs).round().clip(1, 150).astype(np.int64)
    words = tuple(f"w{i}" for i in range(VOCABULARY))
    plan = Plan(settings.image, settings.text, settings.head, CHANNELS, words=words)
    samples = Samples(numbers, numbers, numbers)
    texts = Words(
        random.integers(2, VOCABULARY, int(lengths.sum())),
        np.concatenate([[0], np.cumsum(lengths)]),
    )
    weight = build_weight(settings)
    looks = weight is not None and "neighbors" in weight.needs
    return Task(
        plan=plan,
        model=plan.model(0),
        loss=build_loss(settings),
        ids=[str(number) for number in numbers],
        images=Cells(pairs),
        texts=texts,
        train=samples,
        val=samples,
        near=None,
        meaning=None,
        look=None,
        remarks=(),
        weight=weight,
        around=near(pairs) if looks else None,
    )


class Weighed(Ours):
    """Our loop with a weight: an epoch ends when it is told and that of the next is known."""

    def epoch(self, number: int) -> None:
        super().epoch(number)
        assert self.loop.weighing is not None
        self.loop.weighing.told(number)
        self.loop.weighing.learn(number + 1)
        self.loop.weighing.flush()


def overhead(name: str, full: bool) -> dict[str, Any]:
    """An epoch with a weight over one with uniform weights."""
    pairs = 4 * PAIRS if full else PAIRS
    recipes = [resolve(load_recipe(one), [], pairs, "small") for one in (name, "uniform-lambda")]
    with (
        tempfile.TemporaryDirectory() as one,
        tempfile.TemporaryDirectory() as other,
        one_core_each(),
    ):
        sides = [
            Weighed(task(settings, pairs), settings, folder)
            for settings, folder in zip(recipes, (one, other), strict=True)
        ]
        times = []
        for number in range(REPEATS + 1):
            times.append(in_turn([side.epoch for side in sides], number))
            if number == 0:  # equal weights, equal losses
                apart = np.abs(np.subtract(sides[0].losses, sides[1].losses)).max()
                assert apart < 1e-5, f"{name}: losses of the first epoch differ by {apart}"
        learned = _learning(sides[0])
    (ours, used), (theirs, others) = np.median(np.array(times[1:]), axis=0).tolist()
    batch = recipes[0].training.batch
    return {
        "ratio": ours / theirs,
        "cpu_ratio": used / others,
        "learning_share": learned / others,
        "better": "lower",
        "ours": ours,
        "theirs": theirs,
        "against": "uniform weights",
        "work": f"an epoch of {pairs:,} pairs in batches of {batch}, recipe {name} (GRU, two "
        f"senses), {NEAR} neighbors; measures of all pairs are {learned:.2f} s of processors",
    }


def _learning(side: Weighed) -> float:
    """Processor seconds of what comes after the last step."""
    assert side.loop.weighing is not None
    started = time.process_time()
    side.loop.weighing.learn(REPEATS + 1)
    return time.process_time() - started


def literal(measure: str, full: bool) -> dict[str, Any]:
    """The measure of all pairs, against all N² products of each."""
    rows = 100_000 if full else ROWS
    ids, points = near(rows), vectors(rows)
    with one_core_each():
        chain = chain_of(ids)
        measured(chain_of(near(CLUSTER)), vectors(CLUSTER))  # compiles
        started = time.process_time()
        found = measured(chain, points, [measure])[measure]
        ours = time.process_time() - started
        sample = np.random.default_rng(3).choice(rows, SAMPLE, replace=False)
        started = time.process_time()
        theirs = [products(measure, ids, points, int(i)) for i in sample]
        spent = (time.process_time() - started) * rows / SAMPLE
    apart = np.abs(found[sample] - theirs).max()
    assert apart < 1e-4, f"{measure}: {apart}"
    return {
        "ratio": spent / ours,
        "better": "higher",
        "ours": ours,
        "theirs": spent,
        "against": f"all {NEAR**2:,} products of each pair in numpy, {SAMPLE} pairs timed and "
        "extrapolated",
        "work": f"{measure} of {rows:,} pairs, one modality, {NEAR} neighbors, vectors of {SIZE}",
    }


def products(measure: str, ids: np.ndarray, points: np.ndarray, i: int) -> float:
    """The formula as it is written."""
    if measure == "diversity":
        around = points[ids[i]]
        return float((around @ around.T).mean())
    return float((points[ids[ids[i]].ravel()] @ points[i]).mean())


def growth(full: bool) -> dict[str, Any]:
    """Both measures of one modality at growing sizes."""
    rows, _ = [], measured(chain_of(near(CLUSTER)), vectors(CLUSTER))  # compiles
    for size in (*SIZES, *LARGER) if full else SIZES:
        chain, points = chain_of(near(size)), vectors(size)
        rows.append({"pairs": size, "seconds": seconds(chain, points), "memory_mb": memory_mb()})
        del chain, points
    small, large = (row["seconds"] / row["pairs"] for row in (rows[0], rows[-1]))
    told = ", ".join(f"{row['pairs']:,}: {row['seconds']:.1f} s" for row in rows)
    return {
        "ratio": large / small,
        "better": "lower",
        "ours": rows[-1]["seconds"],
        "theirs": rows[0]["seconds"] * rows[-1]["pairs"] / rows[0]["pairs"],
        "against": f"the same at {rows[0]['pairs']:,} pairs, as many times more",
        "work": f"diversity and discrepancy of one modality, {NEAR} neighbors, vectors of {SIZE}, "
        f"processor seconds {told}",
        "peak_memory_mb": rows[-1]["memory_mb"],
        "sizes": rows,
    }


def seconds(chain: Chain, points: np.ndarray) -> float:
    """Of the processor."""
    with one_core_each():
        started = time.process_time()
        measured(chain, points)
        return time.process_time() - started


CASES: dict[str, Callable[[bool], dict[str, Any]]] = {
    "diversity": partial(overhead, "diversity"),
    "discrepancy": partial(overhead, "discrepancy"),
    "combined-stats": partial(overhead, "combined-stats"),
    "literal-diversity": partial(literal, "diversity"),
    "literal-discrepancy": partial(literal, "discrepancy"),
    "growth": growth,
}

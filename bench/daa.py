"""DAA and PCME: soft ranks against the whole cube, what they add to a step, match probabilities.

`ranks` is DAA's term of one direction, forward and backward, against the same formula over n by n
by n numbers in plain torch; values and gradients are compared before any time is told. At 1,024
pairs the cube is not run: it would hold many times 4 GB. `step-…` is an epoch of a recipe over one
of the same recipe without DAA: same model, batches and loop. `relevance-…` is what M takes of such
a step without DAA: the block of each batch from sparse rows of captions; with vectors of sentences
and of pictures from the cache (`sentence`) a step is as short as it can be. `match` is the
probability of a match by samples for a whole gallery, against two loops over samples, each pass
over all couples; `match-closed` is the closed form against the same. Sides take turns with one
thread each, and tell processor seconds: others on the machine disturb these less.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.profiler import ProfilerActivity, profile

from bench.training import IMAGE, Ours, in_turn
from bench.training import task as pooled_task
from bench.weights import task as cells_task
from trope.encoders.inputs import Rows
from trope.encoders.scorers.matching import Match, Matching
from trope.evaluation.scoring import similarities
from trope.features.backbones.outputs import one_core_each
from trope.losses.daa import DAASettings, one_way
from trope.maths import normalize
from trope.spaces.captions import Corpus, Relevance
from trope.training.graded import Graded
from trope.training.recipes import load_recipe, resolve
from trope.training.settings import Recipe
from trope.training.task import Task
from trope.views import Encoded

BATCHES, CUBES = (128, 512, 1024), (128, 512)
TEMPERATURES = (0.001, 0.01)
PAIRS, TEXTS, REPEATS, VOCABULARY = 3_200, 5, 3, 8_000
IMAGES, CAPTIONS, SIZE, SAMPLES = 500, 2_500, 256, 7

Step = Callable[[Tensor], Tensor]


def ranks(full: bool) -> dict[str, Any]:
    """One direction of the term at growing batches and both temperatures."""
    rows = [_ranks(n, tau) for n in BATCHES for tau in TEMPERATURES]
    worst = min((row for row in rows if "ratio" in row), key=lambda row: row["ratio"])
    memory = ", ".join(
        f"{row['memory_mb']:,.0f} MB against {row.get('memory_theirs_mb', row['cube_mb']):,.0f} at "
        f"{row['batch']}"
        for row in rows
        if row["temperature"] == TEMPERATURES[0]
    )
    return {
        "ratio": worst["ratio"],
        "better": "higher",
        "ours": worst["ours"],
        "theirs": worst["theirs"],
        "against": "the same over n by n by n numbers in torch",
        "work": f"a step of {worst['batch']} pairs at {worst['temperature']}, the worst of "
        f"{CUBES} at {TEMPERATURES}; {memory} (at 1024 one cube of those it would hold)",
        "peak_memory_mb": rows[-1]["memory_mb"],
        "batches": rows,
    }


def _ranks(n: int, temperature: float) -> dict[str, Any]:
    random = torch.Generator().manual_seed(0)
    scores = 0.1 * torch.randn(n, n, generator=random)
    relevance = torch.rand(n, n, generator=random)
    relevance = relevance * (relevance > 0.5)
    settings = DAASettings(1.0, temperature)
    ours: Step = lambda values: one_way(values, relevance, settings).mean()  # noqa: E731
    theirs: Step = lambda values: cube(values, relevance, settings)  # noqa: E731
    row: dict[str, Any] = {"batch": n, "temperature": temperature, "cube_mb": 4e-6 * n**3}
    with one_core_each():
        row["memory_mb"] = peak_mb(scores, ours)
        row["ours"] = _seconds(scores, ours)
        if n in CUBES:
            (value, mine), (other, others) = (_step(scores, side) for side in (ours, theirs))
            assert torch.allclose(value, other, rtol=1e-4), f"{n}: {value} and {other}"
            apart = (mine - others).abs().max() / others.abs().max()
            assert apart < 1e-3, f"{n}: gradients differ by {apart}"
            row["memory_theirs_mb"] = peak_mb(scores, theirs)
            row["theirs"] = _seconds(scores, theirs)
            row["ratio"] = row["theirs"] / row["ours"]
    return row


def cube(scores: Tensor, relevance: Tensor, settings: DAASettings) -> Tensor:
    """The formula as it is written."""
    found = []
    sides = (scores, settings.temperature), (relevance, settings.relevance_temperature)
    for values, temperature in sides:
        above = torch.sigmoid((values[:, None, :] - values[:, :, None]) / temperature)
        found.append(0.5 + above.sum(dim=2))  # its own half is among them
    return 1 - (torch.minimum(*found) / torch.maximum(*found)).mean()


def _step(scores: Tensor, side: Step) -> tuple[Tensor, Tensor]:
    leaf = scores.clone().requires_grad_()
    value = side(leaf)
    value.backward()
    assert leaf.grad is not None
    return value.detach(), leaf.grad


def _seconds(scores: Tensor, side: Step) -> float:
    """Of the processor, the least of several."""
    spent = []
    for _ in range(REPEATS):
        started = time.process_time()
        _step(scores, side)
        spent.append(time.process_time() - started)
    return min(spent)


def peak_mb(scores: Tensor, side: Step) -> float:
    """The most that tensors hold during a step, beyond what was there before it."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as watched:
        _step(scores, side)
    held = largest = 0
    for event in watched.profiler.kineto_results.events():
        if event.name() == "[memory]":
            held += event.nbytes()
            largest = max(largest, held)
    return largest / 1e6


def task(settings: Recipe, measure: str) -> Task:
    """Pairs with five captions an image, whose words are as frequent as words are."""
    random = np.random.default_rng(4)
    words = np.minimum(random.zipf(1.3, (PAIRS, 11)), VOCABULARY)
    captions = [[f"w{word}" for word in caption] for caption in words.tolist()]
    corpus = Corpus.from_captions(captions, [TEXTS] * (PAIRS // TEXTS))
    numbers = np.arange(PAIRS)
    graded = Graded(Relevance(measure).fit(corpus).on(corpus), numbers // TEXTS, numbers)
    if settings.text.encoder == "sentence":
        features = torch.randn(PAIRS, IMAGE, generator=torch.Generator().manual_seed(1))
        return replace(pooled_task(settings, Rows(features), PAIRS), relevance=graded)
    made = cells_task(settings, PAIRS)
    plan = replace(made.plan, scorer=settings.scorer)
    return replace(made, plan=plan, model=plan.model(0), relevance=graded)


def recipe(name: str, *sets: str) -> Recipe:
    return resolve(load_recipe(name), sets, PAIRS, "small")


def step(name: str, full: bool) -> dict[str, Any]:
    """An epoch with DAA over one without."""
    sides = [recipe(name), recipe(name, "daa=none")]
    with (
        tempfile.TemporaryDirectory() as one,
        tempfile.TemporaryDirectory() as other,
        one_core_each(),
    ):
        made = [task(sides[0], "cider"), replace(task(sides[1], "cider"), relevance=None)]
        runs = [
            Ours(some, settings, folder)
            for some, settings, folder in zip(made, sides, (one, other), strict=True)
        ]
        times = [in_turn([run.epoch for run in runs], number) for number in range(REPEATS + 1)]
    (_, ours), (_, theirs) = np.min(np.array(times[1:]), axis=0).tolist()
    batch = sides[0].training.batch
    return {
        "ratio": ours / theirs,
        "better": "lower",
        "ours": ours,
        "theirs": theirs,
        "against": "the same recipe without DAA",
        "work": f"an epoch of {PAIRS:,} pairs in batches of {batch}, recipe {name}, CIDEr of "
        f"{TEXTS} captions an image; processor seconds",
    }


def relevance(name: str, encoder: str, full: bool) -> dict[str, Any]:
    """What the blocks of an epoch take, by each measure, of an epoch without DAA."""
    settings = recipe(name, "daa=none", f"text.encoder={encoder}")
    with tempfile.TemporaryDirectory() as folder, one_core_each():
        run = Ours(replace(task(settings, "cider"), relevance=None), settings, folder)
        epochs = [in_turn([run.epoch], number)[0][1] for number in range(REPEATS + 1)]
        spent = {
            measure: _blocks(task(settings, measure), settings.training.batch)
            for measure in ("cider", "cider-daa", "bleu", "rouge", "mean")
        }
    theirs = min(epochs[1:])
    shares = {measure: seconds / theirs for measure, seconds in spent.items()}
    told = ", ".join(f"{measure} {share:.1%}" for measure, share in shares.items())
    return {
        "ratio": shares["cider"],
        "better": "lower",
        "ours": spent["cider"],
        "theirs": theirs,
        "against": "the steps themselves",
        "work": f"M of an epoch of {PAIRS:,} pairs in batches of {settings.training.batch}, recipe "
        f"{name} ({encoder}), {TEXTS} captions an image; of a step: {told}; processor seconds",
        "shares": shares,
    }


def _blocks(made: Task, batch: int) -> float:
    assert made.relevance is not None
    order = made.train.order(0, 0, batch)
    made.relevance.block(order[0])  # compiles
    spent = []
    for _ in range(REPEATS):
        started = time.process_time()
        for rows in order:
            made.relevance.block(rows)
        spent.append(time.process_time() - started)
    return min(spent)


def match(asked: str, full: bool) -> dict[str, Any]:
    """Match probabilities of a gallery, images by captions."""
    images, captions = (1_000, 5_000) if full else (IMAGES, CAPTIONS)
    image, text = distributions(images, 0), distributions(captions, 1)
    scorer = Matching(SIZE, Match(asked=asked, samples=SAMPLES)).eval()
    with one_core_each(), torch.no_grad():
        started = time.process_time()
        scores = similarities(image, text, scorer)
        ours = time.process_time() - started
        started = time.process_time()
        looped = loops(image, text, scorer)
        theirs = time.process_time() - started
        found = scorer.probability(torch.from_numpy(scores))
    if asked == "sampled":
        assert torch.allclose(found, looped, atol=1e-4), (found - looped).abs().max()
    agree = float((found.argmax(dim=1) == looped.argmax(dim=1)).float().mean())
    return {
        "ratio": theirs / ours,
        "better": "higher",
        "ours": ours,
        "theirs": theirs,
        "against": f"two loops over {SAMPLES} samples, all couples of items at a time, in torch",
        "work": f"match probabilities of {images:,} images with {captions:,} captions, "
        f"{asked}, vectors of {SIZE}; the first caption is the same for {agree:.0%} of the images; "
        "processor seconds",
    }


def loops(image: Encoded, text: Encoded, scorer: Matching) -> Tensor:
    """PCME's mean over couples of samples, as it is written."""
    assert image.log_sigma is not None
    assert text.log_sigma is not None
    total = torch.zeros(len(image.mean), len(text.mean))
    for one in scorer.noise[0]:
        left = image.mean + image.log_sigma.exp() * one
        for other in scorer.noise[1]:
            right = text.mean + text.log_sigma.exp() * other
            s = scorer.shift - scorer.scale * torch.cdist(left, right)
            total += s.exp() / (s.exp() + (-s).exp())
    return total / SAMPLES**2


def distributions(count: int, seed: int) -> Encoded:
    random = torch.Generator().manual_seed(seed)
    mean, spread = torch.randn(2, count, SIZE, generator=random)
    mean[:, 0] += 12  # in one corner, so that some match
    return Encoded(normalize(mean), log_sigma=0.2 * spread - 4)


CASES: dict[str, Callable[[bool], dict[str, Any]]] = {
    "ranks": ranks,
    "step-vse": partial(step, "vse-daa"),
    "step-pcme": partial(step, "pcme-daa"),
    "relevance-vse": partial(relevance, "vse-daa", "gru"),
    "relevance-pcme": partial(relevance, "pcme-daa", "gru"),
    "relevance-sentence": partial(relevance, "vse-daa", "sentence"),
    "match": partial(match, "sampled"),
    "match-closed": partial(match, "closed"),
}

"""SGR against a loop over captions, as released code has it: the same weights, the same scores.

The other side takes captions one by one, each with all images at once and without padding, every
step of reasoning for all nodes, queries and keys apart, and lets torch keep what it needs for the
way back. Sides take turns, with one thread each; scores, and in training gradients, are compared
before any time is told. `ratio` is of processor times: where others use the machine, they say more
than the clock. Scores are of random unit vectors in the sizes of the recipe `sgr`, captions of 7 to
17 words; a product is as large there as anywhere.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn import functional

from trope.encoders.scorers import build_scorer
from trope.encoders.scorers.reasoning import GraphReasoning, Reasoning
from trope.features.backbones.outputs import one_core_each
from trope.maths import normalize
from trope.views import Encoded

CELLS, SIZE, SIMILARITY = 16, 256, 64  # of the recipe `sgr`
SHORTEST, LONGEST = 7, 18
BATCH, REPEATS = 64, 3

Side = Callable[[Encoded, Encoded], Tensor]


def scoring(full: bool) -> dict[str, Any]:
    """Scores of images with texts: 1,000 by 5,000 at full scale, a 50th of it by default."""
    images, texts = (1_000, 5_000) if full else (200, 500)
    with one_core_each(), torch.no_grad():
        scorer, image, text = made(images, texts)
        sides: list[Side] = [scorer, partial(one_by_one, scorer)]
        times = [in_turn(sides, image, text) for _ in range(1 if full else REPEATS)]
    work = f"scores of {images:,} images with {texts:,} texts, {CELLS} cells, {SIZE} dimensions"
    found = case(times, work)
    return found | {"pairs_per_second": images * texts / found["ours"]}


def step(full: bool) -> dict[str, Any]:
    """Scores of a batch with gradients, forward and backward."""
    with one_core_each():
        scorer, image, text = made(BATCH, BATCH)
        scorer.train()
        for encoded in (image, text):
            encoded.mean.requires_grad_()
            assert encoded.locals is not None
            encoded.locals.requires_grad_()
        inputs = [image.locals, image.mean, text.locals, text.mean]
        learning = [*scorer.parameters(), *(value for value in inputs if value is not None)]
        both: list[Side] = [scorer, partial(one_by_one, scorer)]
        sides: list[Side] = [partial(learned, each, learning) for each in both]
        times = [in_turn(sides, image, text) for _ in range(REPEATS * (3 if full else 1))]
    work = f"scores of a batch of {BATCH} pairs with gradients, {CELLS} cells, {SIZE} dimensions"
    return case(times, work)


def made(images: int, texts: int) -> tuple[GraphReasoning, Encoded, Encoded]:
    """A scorer and random items."""
    random = torch.Generator().manual_seed(0)
    torch.manual_seed(0)
    scorer = build_scorer({"name": "sgr", "size": SIMILARITY}, SIZE)
    assert isinstance(scorer, GraphReasoning)
    lengths = torch.randint(SHORTEST, LONGEST, (texts,), generator=random)
    present = torch.arange(LONGEST - 1) < lengths[:, None]
    words = unit(random, texts, LONGEST - 1) * present[:, :, None]
    image = Encoded(unit(random, images), locals=unit(random, images, CELLS))
    return scorer.eval(), image, Encoded(unit(random, texts), locals=words, present=present)


def unit(random: torch.Generator, *shape: int) -> Tensor:
    return normalize(torch.randn(*shape, SIZE, generator=random))


def one_by_one(scorer: GraphReasoning, image: Encoded, text: Encoded) -> Tensor:
    """A column of scores for each caption."""
    assert text.present is not None
    lengths = text.present.sum(dim=1).tolist()
    columns = [column(scorer, image, text, j, length) for j, length in enumerate(lengths)]
    return torch.cat(columns, dim=1)


def column(scorer: GraphReasoning, image: Encoded, text: Encoded, j: int, length: int) -> Tensor:
    """One caption with all images."""
    assert image.locals is not None
    assert text.locals is not None
    words = text.locals[j, :length].expand(len(image.mean), -1, -1)
    products = functional.leaky_relu(image.locals @ words.transpose(1, 2), 0.1)
    shares = torch.softmax(normalize(products).transpose(1, 2) * scorer.temperature, dim=2)
    seen = normalize(shares @ image.locals)
    local = normalize(scorer.local((seen - words) ** 2))
    whole = normalize(scorer.whole((image.mean - text.mean[j]) ** 2))
    nodes = torch.cat([whole[:, None], local], dim=1)
    for each in scorer.steps:
        assert isinstance(each, Reasoning)
        edges = torch.softmax(each.query(nodes) @ each.key(nodes).transpose(1, 2), dim=2)
        nodes = each.graph(edges @ nodes).relu()
    return torch.sigmoid(scorer.judge(nodes[:, 0]))


def learned(side: Side, learning: list[Tensor], image: Encoded, text: Encoded) -> Tensor:
    """Scores and all gradients of a loss of them, in one row."""
    scores = side(image, text)
    found = torch.autograd.grad(scores.square().mean(), learning)
    return torch.cat([value.flatten() for value in (scores.detach(), *found)])


def in_turn(sides: list[Side], image: Encoded, text: Encoded) -> list[float]:
    """Processor seconds of each side, which give the same."""
    found, times = [], []
    for side in sides:
        started = time.process_time()
        found.append(side(image, text))
        times.append(time.process_time() - started)
    torch.testing.assert_close(found[0], found[1], rtol=1e-3, atol=1e-5)
    return times


def case(times: list[list[float]], work: str) -> dict[str, Any]:
    ours, theirs = np.median(np.array(times), axis=0).tolist()
    return {
        "ratio": theirs / ours,
        "better": "higher",
        "ours": ours,
        "theirs": theirs,
        "against": "the same in plain PyTorch, a caption at a time; processor seconds",
        "work": f"{work}, similarity vectors of {SIMILARITY}",
    }


CASES: dict[str, Callable[[bool], dict[str, Any]]] = {"scoring": scoring, "step": step}

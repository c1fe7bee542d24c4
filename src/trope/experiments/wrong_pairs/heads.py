"""Linear heads trained to tell pairs from others (InfoNCE), on pairs that they do not judge.

What a user would take for a model: a layer on each side's frozen features, cosines, a batch's other
pairs as negatives. Trained `FOLDS` times, each time without a part of the pairs, which it judges.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
import torch
from jaxtyping import Float, Float64, Int
from torch import Tensor, nn
from torch.nn import functional

from trope.data.splits import assign
from trope.explain.wrong.sides import Sides
from trope.explain.wrong.standing import standing
from trope.maths import normalize
from trope.runtime import generator

FOLDS = 5
SIZE, EPOCHS, BATCH = 256, 12, 256
RATE, DECAY, DROPOUT, TEMPERATURE = 2e-3, 0.01, 0.3, 0.05

Rows: TypeAlias = Int[np.ndarray, " some"]
Scores: TypeAlias = Float64[np.ndarray, " n"]


def out_of_fold(sides: Sides, tied: Int[np.ndarray, " n"], seed: int) -> Scores:
    """Minus the standing of each pair among those that its heads have not seen either."""
    numbers = np.unique(tied, return_inverse=True)[1]
    fold = assign(numbers, (1 / FOLDS,) * FOLDS, seed)
    found = np.zeros(len(sides))
    for number in range(FOLDS):
        judged = np.flatnonzero(fold == number)
        if len(judged):
            heads = trained(sides, np.flatnonzero(fold != number), seed)
            found[judged] = judgment(heads, sides, judged)
    return found


def seen(sides: Sides, seed: int) -> Scores:
    """The same by heads that were trained on all pairs."""
    everyone = np.arange(len(sides))
    return judgment(trained(sides, everyone, seed), sides, everyone)


def trained(sides: Sides, rows: Rows, seed: int) -> tuple[nn.Linear, nn.Linear]:
    """Heads of both sides."""
    random = generator(seed, "heads")
    torch.manual_seed(int(random.integers(2**31)))
    vectors = [torch.from_numpy(side[rows] * side.shape[1] ** 0.5) for side in _both(sides)]
    heads = nn.Linear(vectors[0].shape[1], SIZE), nn.Linear(vectors[1].shape[1], SIZE)
    weights = [weight for head in heads for weight in head.parameters()]
    size = min(BATCH, len(rows))
    steps = EPOCHS * (len(rows) // size)
    optimizer = torch.optim.AdamW(weights, RATE, weight_decay=DECAY)
    falling = torch.optim.lr_scheduler.LinearLR(optimizer, 1.0, 0.0, steps)
    for _ in range(EPOCHS):
        order = random.permutation(len(rows))[: len(rows) // size * size]
        for batch in torch.from_numpy(order.reshape(-1, size)):
            optimizer.zero_grad()
            _loss(heads, [side[batch] for side in vectors]).backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            falling.step()
    return heads


@torch.no_grad()
def judgment(heads: tuple[nn.Linear, nn.Linear], sides: Sides, rows: Rows) -> Scores:
    """Minus the mean standing of text among texts and picture among pictures."""
    image, text = (
        normalize(head(torch.from_numpy(side[rows] * side.shape[1] ** 0.5))).numpy()
        for head, side in zip(heads, _both(sides), strict=True)
    )
    return np.asarray(-(standing(image, text) + standing(text, image)) / 2)


def _both(sides: Sides) -> tuple[np.ndarray, np.ndarray]:
    return sides.image, sides.text


def _loss(
    heads: tuple[nn.Linear, nn.Linear], vectors: list[Float[Tensor, "b _"]]
) -> Float[Tensor, ""]:
    image, text = (
        normalize(head(functional.dropout(side, DROPOUT)))
        for head, side in zip(heads, vectors, strict=True)
    )
    scores, own = image @ text.T / TEMPERATURE, torch.arange(len(image))
    both = functional.cross_entropy(scores, own) + functional.cross_entropy(scores.T, own)
    return both / 2

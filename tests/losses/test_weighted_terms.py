"""Weights of anchors and of negatives in ranking losses, against plain loops."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from batches import batches, cosine
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from trope.losses.angular import Angular
from trope.losses.npairs import NPairs
from trope.losses.ranking import Ranking
from trope.losses.structure import Structure
from trope.losses.triplet import Triplet
from trope.views import View

Others = Sequence[tuple[float, float, float]]  # s(a, n), s(p, n), the weight of n


def triplet(own: float, others: Others, n: int) -> float:
    return sum(w * max(0.0, 0.3 + s - own) for s, _, w in others) / n


def hardest(own: float, others: Others, n: int) -> float:
    return max((w * max(0.0, 0.3 + s - own) for s, _, w in others), default=0.0)


def angular(own: float, others: Others, n: int) -> float:
    return math.log(1 + sum(w * math.exp(4 * (s + p) - 4 * own) for s, p, w in others))


def hinge(own: float, others: Others, n: int) -> float:
    square = math.tan(math.radians(20)) ** 2
    violated = [(4 * square * (s + p) - 2 * (1 + square) * own + 2 - 6 * square, w)
                for s, p, w in others]  # fmt: skip
    return sum(w * max(0.0, f) for f, w in violated)


def npairs(own: float, others: Others, n: int) -> float:
    return math.log(1 + sum(w * math.exp(4 * (s - own)) for s, _, w in others))


def structure(own: float, others: Others, n: int) -> float:
    apart = [math.sqrt(2 - 2 * s + 1e-4) for s, _, _ in others]
    near = math.sqrt(max(2 - 2 * own, 0) + 1e-4)
    weighed = zip(apart, others, strict=True)
    found = sorted((w * max(0.0, 0.3 + near - far) for far, (_, _, w) in weighed), reverse=True)
    return sum(found[:2]) / min(2, n)


CASES = {
    "triplet": (Triplet(margin=0.3), triplet),
    "hard": (Triplet(margin=0.3, hard=True), hardest),
    "angular": (Angular(), angular),
    "hinge": (Angular(angle=20.0, form="hinge"), hinge),
    "npairs": (NPairs(scale=4.0), npairs),
    "structure": (Structure(margin=0.3, largest=2, text=0.0, text_to_image=1.0), structure),
}


def drawn(n: int, seed: int) -> tuple[Tensor, Tensor]:
    """Weights of anchors and negatives, some of the latter zero."""
    random = torch.Generator().manual_seed(seed)
    anchors, negatives = (torch.rand(2, *shape, generator=random, dtype=torch.float64)
                          for shape in ((n,), (n, n)))  # fmt: skip
    return anchors, negatives * (negatives > 0.3)


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=15)
@given(view=batches, seed=st.integers(0, 2**31))
def test_it_is_the_formula(name: str, view: View, seed: int) -> None:
    loss, term = CASES[name]
    n = len(view.same)
    anchors, negatives = drawn(n, seed)
    expected = [0.0] * n
    for side, (anchor, other) in enumerate([(view.image, view.text), (view.text, view.image)]):
        for i in range(n):
            others = [
                (cosine(anchor, i, other, j), cosine(other, i, other, j),
                 float(negatives[side, i, j]))
                for j in range(n) if not view.same[i, j]
            ]  # fmt: skip
            own = cosine(anchor, i, other, i)
            expected[i] += float(anchors[side, i]) * term(own, others, n)
    found = loss(replace(view, anchors=anchors, negatives=negatives))
    assert found.tolist() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", CASES)
@settings(max_examples=5)
@given(view=batches)
def test_weights_of_one_change_nothing(name: str, view: View) -> None:
    loss: Ranking = CASES[name][0]
    n = len(view.same)
    ones = {"anchors": torch.ones(2, n).double(), "negatives": torch.ones(2, n, n).double()}
    assert torch.allclose(loss(replace(view, **ones)), loss(view))

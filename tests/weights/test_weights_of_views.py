"""Weights by rank, by distance and by hubs: formulas in loops, directions, no gradients."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from view_samples import alike, batch, batches, points, scores

from trope.maths import normalize
from trope.runtime import generator
from trope.views import Encoded, View
from trope.weights.distance import Distance
from trope.weights.hubs import Hubs
from trope.weights.rank import Rank
from trope.weights.weight import ViewWeight

RANDOM = generator(0, "here")


def turned(rows: list[list[float]]) -> list[list[float]]:
    return [list(column) for column in zip(*rows, strict=True)]


@settings(max_examples=25)
@given(batches, st.floats(0.1, 3))
def test_rank(view: View, beta: float) -> None:
    found = Rank(beta=beta).seen(view, None, None, RANDOM).anchors
    assert found is not None
    n, known = len(view.same), scores(view)
    for side, rows in enumerate((known, turned(known))):
        for i in range(n):
            before = sum(rows[i][j] > rows[i][i] for j in range(n) if not view.same[i, j])
            assert float(found[side, i]) == pytest.approx(1 + beta / (n - before))


def test_a_late_match_weighs_twice_and_an_early_one_nearly_once() -> None:
    image = torch.eye(4)
    text = normalize(torch.tensor([[9.0, 0, 0, 0], [0, 0, 1, 0], [0, 1, 0, 0], [1, 1, 1, 0]]))
    view = View(Encoded(image), Encoded(text), torch.eye(4, dtype=torch.bool))
    found = Rank().seen(view, None, None, RANDOM).anchors
    assert found is not None
    assert found[0].tolist() == pytest.approx([1.25, 1.5, 1.5, 1.25])
    assert found[1].tolist() == pytest.approx([1.25, 4 / 3, 4 / 3, 2.0])


def chances(rows: list[list[float]], same: torch.Tensor, size: int) -> list[list[float]]:
    """p of each negative, from the formula in loops."""
    found = []
    for i, row in enumerate(rows):
        weights = [0.0] * len(row)
        for j, score in enumerate(row):
            apart = math.sqrt(max(0.0, 2 - 2 * score))
            if not same[i, j] and apart < 1.4:
                d = max(apart, 0.5)
                weights[j] = d ** (2 - size) * (1 - d * d / 4) ** (-(size - 3) / 2)
        if not any(weights):
            weights = [float(not same[i, j]) for j in range(len(row))]
        total = math.fsum(weights)
        found.append([w / total if total else 0.0 for w in weights])
    return found


@settings(max_examples=25)
@given(batches)
def test_distance(view: View) -> None:
    found = Distance(drawn=False).seen(view, None, None, RANDOM).negatives
    assert found is not None
    n, known = len(view.same), scores(view)
    for side, rows in enumerate((known, turned(known))):
        expected = chances(rows, view.same, 6)
        for i in range(n):
            many = int((~view.same[i]).sum())
            row = [many * p for p in expected[i]]
            assert found[side, i].tolist() == pytest.approx(row, abs=1e-9)


def test_one_negative_is_drawn_as_often_as_is_likely() -> None:
    view = batch(6, size=4, seed=2)
    even = Distance(drawn=False).seen(view, None, None, RANDOM).negatives
    assert even is not None
    total = torch.zeros_like(even)
    for number in range(2_000):
        drawn = Distance().seen(view, None, None, generator(number, "draw")).negatives
        assert drawn is not None
        assert ((drawn > 0).sum(dim=2) == 1).all()
        assert (drawn.sum(dim=2) == 5).all()  # mean one over the five that may be negatives
        total += drawn
    share = total / 2_000 / 5
    error = (even / 5 * (1 - even / 5) / 2_000).sqrt()
    assert ((share - even / 5).abs() <= 5 * error + 1e-9).all()


def test_nearer_negatives_are_likelier_up_to_a_point() -> None:
    angles = torch.tensor([0.0, 0.2, 0.3, 0.7, 1.2, 1.7])  # from the first image to the texts
    text = torch.stack([angles.cos(), angles.sin(), *torch.zeros(4, 6)], dim=1).double()
    image = torch.eye(6).double()
    view = View(Encoded(image), Encoded(text), torch.eye(6, dtype=torch.bool))
    found = Distance(drawn=False).seen(view, None, None, RANDOM).negatives
    assert found is not None
    row = found[0, 0].tolist()
    assert row[0] == 0  # itself
    assert row[1] == pytest.approx(row[2])  # both nearer than 0.5
    assert row[2] > row[3] > row[4] > row[5] == 0  # the last is farther than 1.4


def test_who_has_no_negatives_gets_none() -> None:
    same = torch.ones(3, 3, dtype=torch.bool)
    view = batch(3)
    found = Distance().seen(View(view.image, view.text, same), None, None, RANDOM).negatives
    assert found is not None
    assert not found.any()


def memory(view: View, many: int, seed: int) -> dict[str, torch.Tensor]:
    """Points of other pairs, with as many senses."""
    random = torch.Generator().manual_seed(seed)
    senses = 1 if view.image.points is None else view.image.points.shape[1]
    shape = (many, senses, view.image.mean.shape[1])
    image, text = normalize(torch.randn(2, *shape, generator=random, dtype=torch.float64))
    return {"rows": torch.arange(many), "image": image, "text": text}


@settings(max_examples=25)
@given(batches, st.integers(1, 6), st.integers(1, 4), st.integers(0, 2**31), st.booleans())
def test_hubs(view: View, many: int, nearest: int, seed: int, bars: bool) -> None:
    n, known = len(view.same), memory(view, many, seed)
    random = np.random.default_rng(seed)
    barred = torch.from_numpy(random.random((n, many)) < 0.3) if bars else None
    weight = Hubs(nearest=nearest, alpha=7.0, beta=5.0, margin=0.3)
    found = weight.seen(view, known, barred, RANDOM).hubs
    assert found is not None

    def near(side: Encoded, others: torch.Tensor, i: int) -> list[float]:
        row = [alike(points(side)[i], other) for j, other in enumerate(others.tolist())
               if barred is None or not barred[i, j]]  # fmt: skip
        return sorted(row, reverse=True)[:nearest]

    own = [scores(view)[i][i] for i in range(n)]
    texts = [near(view.image, known["text"], i) for i in range(n)]
    images = [near(view.text, known["image"], i) for i in range(n)]
    b = [math.fsum(math.exp(5 * s - 0.3) for s in row) for row in texts]
    c = [math.fsum(math.exp(5 * s - 0.3) for s in row) for row in images]
    for i in range(n):
        for j in range(n):
            around = b[i] + c[j]
            w = around / (around + math.exp(5 * own[i]) + math.exp(5 * own[j]))
            if i == j:
                p = math.exp(7 * (own[i] - 0.2))
                crowd = math.fsum(math.exp(7 * (s - 0.2)) for s in texts[i] + images[i])
                w = 1 - p / (p + crowd)
            assert float(found[i, j]) == pytest.approx(w, abs=1e-9)


def test_an_item_near_to_many_others_is_a_hub() -> None:
    view = batch(4, seed=1)
    lonely, crowded = memory(view, 5, 0), memory(view, 5, 0)
    crowded["text"] = view.image.mean[:1, None].repeat(5, 1, 1)
    one, other = (Hubs().seen(view, known, None, RANDOM).hubs for known in (lonely, crowded))
    assert one is not None
    assert other is not None
    assert (other[0] >= one[0]).all()
    assert other[0].sum() > one[0].sum()


def test_nothing_is_known_of_hubs_at_first() -> None:
    view = batch(3)
    assert Hubs().seen(view, None, None, RANDOM) is view


def test_a_share_of_the_bank_is_looked_at() -> None:
    bank = np.random.default_rng(0).normal(size=(2, 40, 3, 5)).astype(np.float32)
    weight = Hubs(share=0.1)
    blank, found = weight.blank((2, 40, 3, 5)), weight.learn(bank, None, generator(0, "a"))
    other = weight.learn(bank, None, generator(0, "b"))
    assert {name: a.shape for name, a in found.items()} == {n: a.shape for n, a in blank.items()}
    assert {name: a.dtype for name, a in found.items()} == {n: a.dtype for n, a in blank.items()}
    rows = found["rows"]
    assert len(set(rows.tolist())) == 4
    assert np.array_equal(found["image"], bank[0, rows])
    assert np.array_equal(found["text"], bank[1, rows])
    assert not np.array_equal(rows, other["rows"])


@pytest.mark.parametrize("weight", [Rank(), Distance(), Distance(drawn=False), Hubs()])
def test_no_gradient_passes_a_weight(weight: ViewWeight) -> None:
    vectors = torch.randn(2, 4, 5).requires_grad_()
    image, text = (Encoded(one) for one in normalize(vectors))
    view = View(image, text, torch.eye(4, dtype=torch.bool))
    known = {name: value.float() for name, value in memory(view, 3, 0).items()}
    seen = weight.seen(view, known, None, RANDOM)
    found = [one for one in (seen.anchors, seen.negatives, seen.hubs) if one is not None]
    assert len(found) == 1
    assert not found[0].requires_grad
    assert found[0].dtype == torch.float32

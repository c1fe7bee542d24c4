"""Soft targets against plain loops and torch's own divergence."""

from __future__ import annotations

import math

import pytest
import torch
from batches import batch, batches, matrix, shares
from hypothesis import given, settings
from torch.nn.functional import kl_div

from trope.losses.infonce import infonce
from trope.losses.soft_targets import SoftTargets, divergence
from trope.maths import normalize
from trope.similarity import similarity
from trope.views import Encoded, View


def kl(target: list[float], model: list[float], kept: list[int]) -> float:
    q, p = shares(target, kept), shares(model, kept)
    return sum(q[j] * math.log(q[j] / p[j]) for j in kept)


def scaled(rows: list[list[float]], temperature: float) -> list[list[float]]:
    return [[value / temperature for value in row] for row in rows]


def turned(rows: list[list[float]]) -> list[list[float]]:
    return [list(column) for column in zip(*rows, strict=True)]


@settings(max_examples=15)
@given(view=batches)
def test_it_is_the_formula(view: View) -> None:
    assert view.look is not None
    assert view.meaning is not None
    loss = SoftTargets(cross=0.7, within=0.3, teacher_temperature=0.5).double()
    look, meaning = (
        scaled(matrix(teacher, teacher), 0.5)
        for teacher in (Encoded(normalize(view.look)), Encoded(normalize(view.meaning)))
    )
    scores = matrix(view.image, view.text)
    hard, pairs = scaled(scores, loss.hard().item()), scaled(scores, loss.pairs().item())
    images = scaled(matrix(view.image, view.image), loss.images().item())
    texts = scaled(matrix(view.text, view.text), loss.texts().item())
    n, expected = len(scores), []
    for i in range(n):
        kept = [j for j in range(n) if j == i or not view.same[i, j]]
        one = -math.log(shares(hard[i], kept)[i]) - math.log(shares(turned(hard)[i], kept)[i])
        cross = kl(look[i], pairs[i], kept) + kl(meaning[i], turned(pairs)[i], kept)
        within = kl(look[i], images[i], kept) + kl(meaning[i], texts[i], kept)
        expected.append(one + 0.7 * cross + 0.3 * within)
    assert loss(view).tolist() == pytest.approx(expected, abs=1e-9)


def test_the_divergence_is_torchs() -> None:
    target, logits = torch.randn(2, 6, 6, dtype=torch.float64).log_softmax(dim=-1)
    found = divergence(target, 3 * logits, torch.ones(6, 6, dtype=torch.bool))
    expected = kl_div(
        (3 * logits).log_softmax(dim=1), target, reduction="batchmean", log_target=True
    )
    assert found.mean().item() == pytest.approx(expected.item())


def test_without_weights_it_is_infonce_and_needs_no_teacher() -> None:
    view, loss = batch(6), SoftTargets(cross=0.0, within=0.0)
    bare = View(view.image, view.text, view.same)
    assert loss.needs == frozenset()
    expected = infonce(similarity(view.image, view.text) / loss.hard(), view.same)
    assert torch.equal(loss(bare), expected)


def test_the_model_is_drawn_to_the_teacher_and_the_teacher_stays() -> None:
    view = batch(6)
    assert view.meaning is not None
    view.meaning.requires_grad_()
    loss = SoftTargets()
    loss(view).mean().backward()
    assert view.meaning.grad is None
    alike = Encoded(normalize(view.meaning.detach()))
    other = View(alike, alike, view.same, None, view.meaning, view.meaning)
    only = SoftTargets(cross=0.0, within=1.0, soft_temperature=0.99, teacher_temperature=0.99)
    hard = SoftTargets(cross=0.0, within=0.0)
    assert torch.allclose(only(other), hard(other), atol=1e-6)  # P is Q: no divergence


def test_every_temperature_is_learned() -> None:
    loss = SoftTargets()
    loss(batch(5)).mean().backward()
    assert {name: value.grad is not None for name, value in loss.named_parameters()} == {
        f"{name}.logarithm": True for name in ("hard", "pairs", "images", "texts")
    }

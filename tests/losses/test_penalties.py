"""Penalties against plain loops."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from batches import batch, batches
from hypothesis import given, settings
from hypothesis import strategies as st

from trope.losses import PENALTIES
from trope.losses.candidates import candidates
from trope.losses.penalties import diversity, mmd
from trope.maths import normalize
from trope.similarity import similarity
from trope.views import Encoded, View

OF_SENSES = ("diversity", "mmd")

several = st.builds(batch, n=st.integers(1, 5), senses=st.integers(2, 4), seed=st.integers(0, 999))


@settings(max_examples=15)
@given(view=several)
def test_diversity_is_the_formula(view: View) -> None:
    expected = 0.0
    for items in (view.image, view.text):
        assert items.residuals is not None
        for residuals in items.residuals:
            unit = [(r / r.norm()) for r in residuals]
            k = len(unit)
            squares = [
                (unit[a] @ unit[b]).item() ** 2 for a in range(k) for b in range(k) if a != b
            ]
            expected += math.sqrt(sum(squares)) / k**2 / len(items.residuals)
    assert diversity(view).item() == pytest.approx(expected, abs=1e-9)


@settings(max_examples=15)
@given(view=several)
def test_mmd_is_the_formula(view: View) -> None:
    assert view.image.points is not None
    assert view.text.points is not None
    x, y = (list(points.flatten(0, 1)) for points in (view.image.points, view.text.points))

    def kernel(ones: list[torch.Tensor], others: list[torch.Tensor]) -> float:
        values = [math.exp(-0.5 * (a - b).norm().item()) for a in ones for b in others]
        return sum(values) / len(values)

    expected = kernel(x, x) - 2 * kernel(x, y) + kernel(y, y)
    assert mmd(view).item() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", PENALTIES)
def test_one_sense_costs_nothing(name: str) -> None:
    view = batch(4)
    points = view.image.mean[:, None]
    one = Encoded(view.image.mean, points, points)
    assert PENALTIES[name](view) == 0
    assert PENALTIES[name](View(one, one, view.same)) == 0


def test_direction() -> None:
    same = torch.eye(3, dtype=torch.bool)
    far = torch.eye(8, dtype=torch.float64)[:6].view(3, 2, 8)
    alike = far[:, :1].expand(3, 2, 8)
    apart, equal = Encoded(far[:, 0], far, far), Encoded(far[:, 0], alike, alike)
    assert diversity(View(apart, apart, same)) == 0
    assert diversity(View(equal, equal, same)) > 0.5
    moved = Encoded(far[:, 0], -far, far)
    assert mmd(View(apart, apart, same)) == pytest.approx(0.0, abs=1e-12)
    assert mmd(View(apart, moved, same)) > 0


@pytest.mark.parametrize("name", OF_SENSES)
def test_gradients(name: str) -> None:
    view = batch(3, senses=2)

    def penalty(images: torch.Tensor, texts: torch.Tensor) -> torch.Tensor:
        image, text = normalize(images), normalize(texts)
        return PENALTIES[name](
            View(
                Encoded(view.image.mean, image, images),
                Encoded(view.text.mean, text, texts),
                view.same,
            )
        )

    inputs = [torch.randn(3, 2, 5, dtype=torch.float64, requires_grad=True) for _ in range(2)]
    assert torch.autograd.gradcheck(penalty, inputs)


@pytest.mark.parametrize("name", OF_SENSES)
def test_equal_senses_have_finite_gradients(name: str) -> None:
    points = torch.ones(3, 2, 4, requires_grad=True)
    items = Encoded(points[:, 0], points, points)
    PENALTIES[name](View(items, items, torch.eye(3, dtype=torch.bool))).backward()
    assert points.grad is not None
    assert points.grad.isfinite().all()


@settings(max_examples=15)
@given(view=batches)
def test_candidates_are_charged_by_their_cosines(view: View) -> None:
    n = len(view.same)
    scored = replace(view, scores=torch.zeros(n, n, dtype=torch.float64))
    c = similarity(view.image, view.text).tolist()
    others = [(i, j) for i in range(n) for j in range(n) if not view.same[i, j]]
    found = [max(0.0, 0.2 + c[i][j] - c[i][i]) for i, j in others]
    found += [max(0.0, 0.2 + c[j][i] - c[i][i]) for i, j in others]
    assert candidates(scored).item() == pytest.approx(sum(found) / n**2, abs=1e-9)
    assert candidates(view) == 0  # the loss itself goes by cosines


def test_candidates_cost_less_where_they_are_nearer() -> None:
    view = replace(batch(5), scores=torch.zeros(5, 5, dtype=torch.float64))
    near = replace(view, text=view.image)
    assert candidates(near) < candidates(view)
    image = view.image.mean.clone().requires_grad_()
    candidates(replace(view, image=Encoded(image))).backward()
    assert image.grad is not None
    assert image.grad.abs().sum() > 0

"""InfoNCE against plain loops and pytorch-metric-learning, and its temperature."""

from __future__ import annotations

import math

import pytest
import torch
from batches import batch, batches, both_ways, matrix, paired, shares, view_of
from hypothesis import given, settings
from pytorch_metric_learning.losses import NTXentLoss

from trope.losses.infonce import InfoNCE
from trope.views import View


@settings(max_examples=15)
@given(view=batches)
def test_it_is_the_formula(view: View) -> None:
    loss = InfoNCE(temperature=0.2).double()
    scale = loss.scale().item()
    scores = [[scale * score for score in row] for row in matrix(view.image, view.text)]
    n, expected = len(scores), []
    for i in range(n):
        kept = [j for j in range(n) if j == i or not view.same[i, j]]
        by_image = shares(scores[i], kept)[i]
        by_text = shares([row[i] for row in scores], kept)[i]
        expected.append(-math.log(by_image) - math.log(by_text))
    assert loss(view).tolist() == pytest.approx(expected, abs=1e-9)


def test_it_equals_pytorch_metric_learning() -> None:
    image, text = paired(9)
    theirs = both_ways(NTXentLoss(temperature=0.1), image, text)
    ours = InfoNCE(temperature=0.1)(view_of(image, text)).mean()
    assert ours.item() == pytest.approx(theirs.item(), rel=1e-6)


def test_the_temperature_starts_where_it_is_set_and_is_learned() -> None:
    loss = InfoNCE()
    assert 1 / loss.scale().item() == pytest.approx(0.07)
    loss(batch(5)).mean().backward()
    assert loss.scale.logarithm.grad is not None
    assert not list(filter(lambda p: p.requires_grad, InfoNCE(learned=False).parameters()))


def test_the_scale_stays_below_100_and_can_come_back() -> None:
    loss = InfoNCE()
    with torch.no_grad():
        loss.scale.logarithm.fill_(9.0)
    loss(batch(5)).mean().backward()
    assert loss.scale.logarithm.item() == pytest.approx(math.log(100))
    assert loss.scale.logarithm.grad is not None
    assert loss.scale.logarithm.grad.item() != 0

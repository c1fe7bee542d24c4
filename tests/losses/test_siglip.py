"""The sigmoid loss against plain loops, the paper's sum and its starting values."""

from __future__ import annotations

import math

import pytest
import torch
from batches import batch, batches, matrix
from hypothesis import given, settings
from torch.nn.functional import logsigmoid

from trope.losses.siglip import SigLIP
from trope.views import View


@settings(max_examples=15)
@given(view=batches)
def test_it_is_the_formula(view: View) -> None:
    loss = SigLIP(scale=4.0, bias=-1.0).double()
    scale = loss.learned_scale().item()
    logits = [[scale * score - 1 for score in row] for row in matrix(view.image, view.text)]
    n, expected = len(logits), []
    for i in range(n):
        total = math.log(1 + math.exp(-logits[i][i]))
        for j in range(n):
            if not view.same[i, j]:
                total += math.log(1 + math.exp(logits[i][j])) / 2
                total += math.log(1 + math.exp(logits[j][i])) / 2
        expected.append(total)
    assert loss(view).tolist() == pytest.approx(expected, abs=1e-9)


def test_its_mean_is_that_of_the_papers_algorithm() -> None:
    view = batch(7)
    logits = 10 * view.image.mean @ view.text.mean.T - 10
    signs = 2 * torch.eye(7) - 1
    expected = -logsigmoid(signs * logits).sum() / 7
    assert SigLIP()(view).mean().item() == pytest.approx(expected.item())


def test_scale_and_bias_start_as_in_the_paper_and_are_learned() -> None:
    loss = SigLIP()
    values = {name: value.item() for name, value in loss.named_parameters()}
    assert values == pytest.approx({"learned_scale.logarithm": math.log(10), "learned_bias": -10.0})
    loss(batch(5)).mean().backward()
    assert all(value.grad is not None for value in loss.parameters())

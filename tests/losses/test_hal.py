"""HAL against plain loops, with weights and without."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from batches import batches, matrix
from hypothesis import given, settings
from hypothesis import strategies as st

from trope.losses.hal import HAL
from trope.views import Encoded, View


@settings(max_examples=25)
@given(view=batches, weighted=st.booleans(), seed=st.integers(0, 2**31))
def test_it_is_the_formula(view: View, weighted: bool, seed: int) -> None:
    n, scores, same = len(view.same), matrix(view.image, view.text), view.same
    random = torch.Generator().manual_seed(seed)
    weights = torch.rand(n, n, generator=random, dtype=torch.float64)
    w = weights.tolist() if weighted else [[1.0] * n] * n
    expected = []
    for i in range(n):
        others = [j for j in range(n) if not same[i, j]]
        texts = sum(math.exp(20 * w[i][j] * (scores[i][j] - 0.2)) for j in others)
        images = sum(math.exp(20 * w[j][i] * (scores[j][i] - 0.2)) for j in others)
        positive = math.log(1 + max(0.0, w[i][i] * scores[i][i]))
        expected.append(math.log(1 + texts) / 20 + math.log(1 + images) / 20 - positive)
    seen = replace(view, hubs=weights) if weighted else view
    found = HAL(scale=20.0, margin=0.2)(seen)
    assert found.tolist() == pytest.approx(expected, abs=1e-9)


def test_a_hub_costs_more_where_it_weighs_more() -> None:
    eye = torch.eye(3, dtype=torch.float64)
    image, text = eye, torch.tensor([[0.8, 0.6, 0.0]] * 3, dtype=torch.float64)
    view = View(Encoded(image), Encoded(text), torch.eye(3, dtype=torch.bool))
    light, heavy = (torch.full((3, 3), value, dtype=torch.float64) for value in (0.5, 1.0))
    heavy.fill_diagonal_(0.5)
    loss = HAL(scale=20.0, margin=0.3)
    assert loss(replace(view, hubs=heavy)).sum() > loss(replace(view, hubs=light)).sum()

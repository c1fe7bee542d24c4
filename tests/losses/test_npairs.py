"""N-pairs loss against plain loops and pytorch-metric-learning."""

from __future__ import annotations

import math

import pytest
import torch
from batches import batches, paired, ranking, view_of
from hypothesis import given, settings
from pytorch_metric_learning.distances import DotProductSimilarity
from pytorch_metric_learning.losses import NPairsLoss

from trope.losses.infonce import InfoNCE
from trope.losses.npairs import NPairs
from trope.views import View


@settings(max_examples=15)
@given(view=batches)
def test_it_is_the_formula(view: View) -> None:
    def term(own: float, others: list[tuple[float, float]], n: int) -> float:
        return math.log(1 + sum(math.exp(7 * (other - own)) for other, _ in others))

    expected = ranking(view, term, (1, 1, 0.4, 0.6))
    found = NPairs(scale=7.0, text=0.4, image=0.6)(view)
    assert found.tolist() == pytest.approx(expected, abs=1e-9)


def test_it_equals_pytorch_metric_learning_on_vectors_of_that_length() -> None:
    image, text = paired(9)
    peer = NPairsLoss(distance=DotProductSimilarity(normalize_embeddings=False))
    labels = torch.arange(9).repeat(2)
    theirs = peer(3 * torch.cat([image, text]), labels) + peer(3 * torch.cat([text, image]), labels)
    ours = NPairs(scale=9.0)(view_of(image, text)).mean()
    assert ours.item() == pytest.approx(theirs.item())


@given(view=batches)
@settings(max_examples=10)
def test_it_is_infonce_with_a_fixed_temperature(view: View) -> None:
    other = InfoNCE(temperature=1 / 16, learned=False).double()
    assert torch.allclose(NPairs(scale=16.0)(view), other(view), atol=1e-6)

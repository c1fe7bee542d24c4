"""Triplet loss against plain loops and pytorch-metric-learning."""

from __future__ import annotations

import pytest
import torch
from batches import batch, batches, both_ways, paired, ranking, view_of
from hypothesis import given, settings
from pytorch_metric_learning.distances import CosineSimilarity
from pytorch_metric_learning.losses import TripletMarginLoss
from pytorch_metric_learning.miners import BatchHardMiner
from pytorch_metric_learning.reducers import MeanReducer
from torch import Tensor

from trope.losses.triplet import Triplet
from trope.views import View


@pytest.mark.parametrize("hard", [False, True])
@settings(max_examples=15)
@given(view=batches)
def test_it_is_the_formula(view: View, hard: bool) -> None:
    def term(own: float, others: list[tuple[float, float]], n: int) -> float:
        found = [max(0.0, 0.3 + other - own) for other, _ in others]
        return max(found, default=0.0) if hard else sum(found) / n

    loss = Triplet(margin=0.3, hard=hard, text=0.3, image=0.1)
    expected = ranking(view, term, (1, 1, 0.3, 0.1))
    assert loss(view).tolist() == pytest.approx(expected, abs=1e-9)


def peer(margin: float) -> TripletMarginLoss:
    return TripletMarginLoss(margin, distance=CosineSimilarity(), reducer=MeanReducer())


def test_it_equals_pytorch_metric_learning() -> None:
    image, text = paired(9)
    theirs = both_ways(peer(0.2), image, text)
    ours = Triplet(margin=0.2)(view_of(image, text)).mean()
    assert ours.item() == pytest.approx(theirs.item() * 8 / 9)  # they divide by the negatives


def test_the_hardest_negative_equals_pytorch_metric_learning() -> None:
    image, text = paired(9)
    miner = BatchHardMiner(distance=CosineSimilarity())

    def hardest(one: Tensor, labels: Tensor, ref_emb: Tensor, ref_labels: Tensor) -> Tensor:
        found = miner(one, labels, ref_emb, ref_labels)
        return peer(0.2)(one, labels, found, ref_emb=ref_emb, ref_labels=ref_labels)

    theirs = both_ways(hardest, image, text)
    ours = Triplet(margin=0.2, hard=True)(view_of(image, text)).mean()
    assert ours.item() == pytest.approx(theirs.item())


def test_squared_distances_with_twice_the_margin_are_twice_the_hinge() -> None:
    image, text = paired(2, seed=3)
    apart = ((image[:, None] - text[None]) ** 2).sum(dim=2)
    squared = (apart.diagonal()[:, None] - apart + 2 * 0.9).clamp(min=0)
    squared = squared + (apart.diagonal()[:, None] - apart.T + 2 * 0.9).clamp(min=0)
    expected = [(squared[0, 1] / 4).item(), (squared[1, 0] / 4).item()]
    assert Triplet(margin=0.9)(view_of(image, text)).tolist() == pytest.approx(expected)


def test_the_first_steps_may_count_all_negatives() -> None:
    view = batch(6, seed=3)
    every, hardest, warm = Triplet(), Triplet(hard=True), Triplet(hard=True, warm=2)
    for loss in (every, hardest, warm):
        loss.train()
    for _ in range(2):
        torch.testing.assert_close(warm(view), every(view))
    torch.testing.assert_close(warm(view), hardest(view))
    assert not torch.allclose(every(view), hardest(view))
    assert warm.state_dict()["steps"] == 3
    again = Triplet(hard=True, warm=2)
    torch.testing.assert_close(again.eval()(view), hardest(view))  # validation is always the same
    assert again.state_dict()["steps"] == 0
    again.load_state_dict(warm.state_dict())
    torch.testing.assert_close(again.train()(view), hardest(view))
    assert not hardest.state_dict()

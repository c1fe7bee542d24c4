"""Chance: closed forms against the mean over random orders."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from trope.evaluation.chance import by_chance, median_rank, none_within
from trope.metrics import Block, Labels, tie_priority
from trope.metrics.asp import Asp
from trope.metrics.ndcg import NDCG
from trope.metrics.pmrp import PMRP
from trope.metrics.precision import MAP, MAPAtR, RPrecision
from trope.metrics.rank import MeanRank, MedianRank
from trope.metrics.recall import Recall
from trope.metrics.semantic import SemanticMAP
from trope.metrics.tasks import TaskRank, TaskRecall

METRICS = (
    TaskRecall((4,)), TaskRank((4,)), Recall((1, 3)), MeanRank(), RPrecision(), MAPAtR(), MAP(),
    NDCG((3, None)), SemanticMAP(), PMRP(), Asp(),
)  # fmt: skip
ITEMS, TIMES = 9, 4_000


def blocks(seed: int) -> Block:
    """The same query many times, its items in random order each time."""
    random = np.random.default_rng(seed)
    right = np.zeros((TIMES, ITEMS), bool)
    right[:, : 1 + seed] = True
    items = random.integers(0, 2, (ITEMS, 4))
    items[0] = 0  # one has no label
    labels = Labels(
        sparse.csr_matrix(np.repeat(items[[3]], TIMES, axis=0)), sparse.csr_matrix(items)
    )
    scores = random.random((TIMES, ITEMS)).astype(np.float32)
    grades = random.random((1, ITEMS)).astype(np.float32).repeat(TIMES, axis=0)
    return Block(
        np.arange(TIMES),
        scores,
        sparse.csr_matrix(right),
        tie_priority(ITEMS),
        labels,
        {"cider": lambda: grades},
    )


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_every_closed_form_is_the_mean_over_random_orders(seed: int) -> None:
    block = blocks(seed)
    values = {name: v for metric in METRICS for name, v in metric(block).items()}
    expected = by_chance(block, values)
    assert expected.keys() == values.keys()
    for name, found in values.items():
        if np.isnan(found).all():
            assert np.isnan(expected[name]).all(), name
            continue
        error = found.std() / TIMES**0.5
        assert abs(found.mean() - expected[name].mean()) <= 4.5 * error + 1e-9, name


def test_queries_without_anything_right_have_no_chance() -> None:
    right = sparse.csr_matrix(np.array([[0, 0, 0], [1, 0, 0]], bool))
    scores = np.zeros((2, 3), np.float32)
    block = Block(np.arange(2), scores, right, tie_priority(3))
    found = by_chance(block, ["recall@1", "map", "mean-rank", "recall@1/2-way"])
    for values in found.values():
        assert np.isnan(values).tolist() == [True, False]


def test_the_median_rank_of_random_orders() -> None:
    random = np.random.default_rng(0)
    right = np.repeat([1, 3], 3_000)
    ranks = [random.permutation(50)[:count].min() + 1 for count in right]
    assert abs(median_rank(right, 50) - np.median(ranks)) <= 1


def test_none_within_covers_the_edges() -> None:
    found = none_within(np.array([1, 3, 5]), 5, 3)
    np.testing.assert_allclose(found, [2 / 5, 0, 0])


def test_only_what_is_known_has_a_chance() -> None:
    block = blocks(0)
    assert by_chance(block, ["gain@5/cider", "micro-f1"]) == {}
    values = MedianRank()(block)
    assert by_chance(block, values) == {}

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from trope.metrics import Block
from trope.metrics import block as block_module
from trope.metrics.counting import Counts, counted, counted_in_order


def by_loops(block: Block) -> list[tuple[int, int, int]]:
    """Every right item against every other item."""
    found = []
    right = block.right.toarray()
    for row, marks in zip(block.scores, right, strict=True):
        for item in np.flatnonzero(marks):
            wrong = [j for j in range(len(row)) if not marks[j]]
            above = sum(row[j] > row[item] for j in wrong)
            tied = sum(row[j] == row[item] for j in wrong)
            place = sum(
                (row[j], -block.priority[j]) > (row[item], -block.priority[item])
                for j in range(len(row))
            )
            found.append((above, tied, place))
    return found


def entries(counts: Counts) -> list[tuple[int, int, int]]:
    return list(zip(counts.above, counts.tied, counts.places, strict=True))


@given(
    seed=st.integers(0, 2**32),
    queries=st.integers(1, 6),
    items=st.integers(1, 20),
    values=st.sampled_from([0, 2, 4]),
)
def test_both_ways_equal_loops(
    drawn: Callable[..., Block], seed: int, queries: int, items: int, values: int
) -> None:
    block = drawn(seed, queries, items, values)
    wanted = by_loops(block)
    assert entries(counted(block.scores, block.right, block.priority)) == wanted
    assert entries(counted_in_order(block.scores, block.right, block.order)) == wanted


def test_both_ways_agree_on_many_cores() -> None:
    random = np.random.default_rng(0)
    scores = np.round(random.normal(size=(150, 2_000)), 2).astype(np.float32)
    right = sparse.csr_matrix(random.random(scores.shape) < 0.01)
    block = Block(np.arange(150), scores, right, random.permutation(2_000))
    straight = entries(counted(block.scores, block.right, block.priority))
    assert straight == entries(counted_in_order(block.scores, block.right, block.order))


def test_scores_in_any_memory_order(drawn: Callable[..., Block]) -> None:
    block = drawn(1)
    turned = np.asfortranarray(block.scores)
    assert entries(counted(turned, block.right, block.priority)) == by_loops(block)


def test_few_right_items_are_counted_without_sorting(
    drawn: Callable[..., Block], monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = drawn(2), drawn(2)
    assert few.counts.above is not None
    assert "order" not in few.__dict__
    monkeypatch.setattr(block_module, "MANY", 0)
    assert entries(many.counts) == entries(few.counts)
    assert "order" in many.__dict__


def test_means_over_the_right_items_of_a_query(block_of: Callable[..., Block]) -> None:
    right = np.array([[1, 1, 0], [0, 0, 0], [0, 0, 1]])
    counts = block_of(np.zeros((3, 3)), right).counts
    means = counts.means(np.array([1.0, 3.0, 5.0]))
    assert means[[0, 2]].tolist() == [2.0, 5.0]
    assert np.isnan(means[1])
    assert counts.wrong.tolist() == [1, 3, 2]


def test_the_best_right_item(block_of: Callable[..., Block]) -> None:
    """First of right and wrong ones at one score, behind one wrong item; then ahead of all."""
    scores = np.array([[9, 5, 5, 5, 5, 1], [9, 8, 8, 0, 0, 0], [1, 2, 3, 4, 5, 6]])
    right = np.array([[0, 1, 1, 0, 0, 1], [1, 1, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0]])
    best = block_of(scores, right).counts.best
    assert (best.above[0], best.tied[0], best.equals[0]) == (1, 2, 2)
    assert (best.above[1], best.tied[1]) == (0, 0)
    assert np.isnan(best.above[2])

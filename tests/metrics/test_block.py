from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

from trope.errors import DataError, UsageError
from trope.metrics import Block, Labels
from trope.metrics.pmrp import PMRP


@pytest.mark.parametrize("strange", [np.nan, np.inf, -np.inf])
def test_scores_that_are_no_numbers_are_refused(
    block_of: Callable[..., Block], strange: float
) -> None:
    scores = np.zeros((3, 4))
    scores[1, 2] = strange
    with pytest.raises(DataError, match=rf"^query 41: a score is {strange}; .* finite numbers$"):
        block_of(scores, np.eye(3, 4), rows=np.array([40, 41, 42]))


def test_right_items_of_another_gallery() -> None:
    with pytest.raises(ValueError, match="right items"):
        Block(np.arange(2), np.zeros((2, 3), np.float32), sparse.csr_matrix((2, 4)), np.arange(3))


def test_right_items_said_twice_or_denied() -> None:
    right = sparse.csr_matrix((np.array([True, True, False]), np.array([1, 1, 2]), [0, 3]), (1, 3))
    block = Block(np.arange(1), np.zeros((1, 3), np.float32), right, np.arange(3))
    assert (block.positives.tolist(), block.counts.wrong.tolist()) == ([1], [2])


def test_a_gallery_of_nothing(block_of: Callable[..., Block]) -> None:
    block = block_of(np.zeros((2, 0)), np.zeros((2, 0)))
    assert (len(block), block.items, len(block.counts.above)) == (2, 0, 0)


def test_the_order_is_made_once(drawn: Callable[..., Block]) -> None:
    block = drawn(0, values=3)
    assert block.order is block.order
    assert (np.sort(block.order, axis=1) == np.arange(block.items)).all()
    best = np.take_along_axis(block.scores, block.order, axis=1)
    assert (np.diff(best) <= 0).all()


def test_labels_that_are_missing_are_asked_for_by_name(block_of: Callable[..., Block]) -> None:
    with pytest.raises(UsageError, match="pmrp/labels: the data has no labels"):
        PMRP(name="pmrp/labels")(block_of(np.zeros((1, 2)), np.eye(1, 2)))


def test_shared_labels_are_those_of_a_product() -> None:
    random = np.random.default_rng(0)
    queries, items = random.random((300, 40)) < 0.1, random.random((500, 40)) < 0.1
    labels = Labels(sparse.csr_matrix(queries), sparse.csr_matrix(items))
    assert np.array_equal(labels.shared, queries.astype(int) @ items.T.astype(int))
    assert np.array_equal(labels.of_items, items.sum(axis=1))


def test_labels_of_two_lists() -> None:
    with pytest.raises(ValueError, match="differ"):
        Labels(sparse.csr_matrix((2, 3)), sparse.csr_matrix((2, 4)))

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from sklearn.metrics import ndcg_score

from trope.errors import UsageError
from trope.metrics import Block
from trope.metrics.ndcg import NDCG


@pytest.fixture
def block(block_of: Callable[..., Block]) -> Block:
    random = np.random.default_rng(0)
    queries, items = random.random((30, 12)) < 0.3, random.random((400, 12)) < 0.2
    queries[3] = False
    queries[3, 0] = True
    items[:, 0] = False  # nobody has what the fourth query has
    queries[5] = False
    return block_of(random.random((30, 400)), np.eye(30, 400), queries, items)


def test_equals_scikit_learn(block: Block) -> None:
    found = NDCG((7, None, 100))(block)
    gains = block.labeled("").shared
    for query in range(len(block)):
        if not gains[query].any():
            continue
        for name, cut in (("ndcg@7", 7), ("ndcg@100", 100), ("ndcg", None)):
            mine = found[name][query]
            assert mine == pytest.approx(
                ndcg_score(gains[[query]], block.scores[[query]], k=cut), abs=1e-12
            )


def test_a_query_without_any_shared_label_does_not_count_or_scores_zero(block: Block) -> None:
    assert np.isnan(NDCG()(block)["ndcg"][[3, 5]]).all()
    assert (NDCG(empty=0.0)(block)["ndcg"][[3, 5]] == 0).all()
    others = block.labeled("").shared.any(axis=1)
    assert np.isfinite(NDCG()(block)["ndcg"][others]).all()


def test_the_whole_order_is_made_only_for_the_whole_gallery(block: Block) -> None:
    cut = NDCG((20,))(block)["ndcg@20"]
    assert "order" not in block.__dict__
    assert NDCG((20, None))(block)["ndcg@20"] == pytest.approx(cut, nan_ok=True)
    assert "order" in block.__dict__


def test_cuts_that_reach_the_gallery_are_left_out(block: Block) -> None:
    assert list(NDCG((399, 400, 500, None))(block)) == ["ndcg@399", "ndcg"]
    assert NDCG((500,))(block) == {}
    with pytest.raises(UsageError, match="at least 1"):
        NDCG((0,))


def test_more_shared_labels_first_is_better(block_of: Callable[..., Block]) -> None:
    queries, items = np.array([[1, 1, 1]] * 2), np.array([[1, 1, 1], [1, 0, 0], [0, 0, 0]])
    found = NDCG()(block_of(np.array([[3, 2, 1], [2, 3, 1]]), np.eye(2, 3), queries, items))
    assert found["ndcg"][0] == 1.0
    assert found["ndcg"][1] == pytest.approx((1 + 3 / np.log2(3)) / (3 + 1 / np.log2(3)))

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trope.errors import UsageError
from trope.metrics import Block
from trope.metrics.rank import MeanRank, MedianRank, best_rank
from trope.metrics.recall import Recall, recall_at


def by_orders(scores: list[int], right: list[bool], k: int) -> tuple[float, float]:
    """The mean over all orders of equal scores: a right item among the first k, and its rank."""
    hits, ranks, count = 0, 0, 0
    for shuffled in permutations(range(len(scores))):
        order = sorted(shuffled, key=lambda item: -scores[item])
        first = next(place for place, item in enumerate(order) if right[item])
        hits, ranks, count = hits + (first < k), ranks + first + 1, count + 1
    return hits / count, ranks / count


@given(
    items=st.lists(st.tuples(st.integers(0, 2), st.booleans()), min_size=1, max_size=6).filter(
        lambda items: any(right for _, right in items)
    ),
    k=st.integers(1, 5),
)
def test_expectation_over_all_orders_of_equal_scores(
    block_of: Callable[..., Block], items: list[tuple[int, bool]], k: int
) -> None:
    scores, right = map(list, zip(*items, strict=True))
    best = block_of(np.array([scores]), np.array([right])).counts.best
    hit, rank = by_orders(scores, right, k)
    assert recall_at(best, k)[0] == pytest.approx(hit)
    assert best_rank(best)[0] == pytest.approx(rank)


def test_any_right_item_will_do(block_of: Callable[..., Block]) -> None:
    scores = np.array([[0.9, 0.8, 0.7, 0.6, 0.5, 0.1]])
    block = block_of(scores, np.array([[0, 0, 1, 1, 0, 1]]))
    found = Recall((1, 2, 3, 5))(block)
    assert {name: values[0] for name, values in found.items()} == {
        "recall@1": 0.0,
        "recall@2": 0.0,
        "recall@3": 1.0,
        "recall@5": 1.0,
    }
    assert MeanRank()(block)["mean-rank"] == MedianRank()(block)["median-rank"] == [3.0]


def test_cuts_that_say_nothing_are_left_out(drawn: Callable[..., Block]) -> None:
    assert list(Recall()(drawn(0, items=10))) == ["recall@1", "recall@5"]
    assert list(Recall()(drawn(0, items=11))) == ["recall@1", "recall@5", "recall@10"]


def test_queries_without_a_right_item_do_not_count(drawn: Callable[..., Block]) -> None:
    block = drawn(5)
    none = block.positives == 0
    assert none.any()
    assert np.isnan(Recall()(block)["recall@1"][none]).all()
    assert np.isnan(MeanRank()(block)["mean-rank"][none]).all()
    assert np.isfinite(Recall()(block)["recall@1"][~none]).all()


def test_no_cut_below_one() -> None:
    with pytest.raises(UsageError, match="at least 1, found 0"):
        Recall((1, 0))

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trope.errors import DataError, UsageError
from trope.metrics import Block, Places, mean_rank_in_task, recall_in_task
from trope.metrics.tasks import TaskRank, TaskRecall, fitting


def by_enumeration(wrong: list[float], right: float, ways: int, k: int) -> tuple[float, float]:
    """All draws of others, all orders of ties: the share of hits and the mean rank."""
    hits, ranks, count = 0.0, 0.0, 0
    for drawn in combinations(wrong, ways - 1):
        above = sum(score > right for score in drawn)
        tied = sum(score == right for score in drawn)
        for before in range(tied + 1):
            hits += (above + before < k) / (tied + 1)
            ranks += (above + before) / (tied + 1)
        count += 1
    return hits / count, ranks / count


@given(
    wrong=st.lists(st.integers(0, 5), min_size=4, max_size=8),
    right=st.lists(st.integers(0, 5), min_size=1, max_size=3),
    ways=st.integers(2, 5),
    k=st.integers(1, 5),
)
def test_expectation_over_all_draws_for_each_right_item(
    block_of: Callable[..., Block], wrong: list[int], right: list[int], ways: int, k: int
) -> None:
    scores = np.array([[*wrong, *right]], float)
    block = block_of(scores, np.arange(len(scores[0]))[None] >= len(wrong))
    each = [by_enumeration(list(map(float, wrong)), float(r), ways, k) for r in right]
    hits, rank = np.mean(each, axis=0)
    if k < ways:
        found = TaskRecall((ways,), cuts=(k,))(block)[f"recall@{k}/{ways}-way"]
        assert found[0] == pytest.approx(hits, abs=1e-9)
    else:
        assert recall_in_task(block.counts.each, ways, k) == pytest.approx(1.0)
    assert TaskRank((ways,))(block)[f"mean-rank/{ways}-way"][0] == pytest.approx(rank, abs=1e-9)


def test_all_equal_scores_are_chance() -> None:
    for others in (99, 24_999):
        found = Places(np.array([others]), np.array([0]), np.array([others]))
        assert recall_in_task(found, 5)[0] == pytest.approx(0.2)
        assert recall_in_task(found, 100, 3)[0] == pytest.approx(0.03)
        assert mean_rank_in_task(found, 5)[0] == pytest.approx(2.0)


def test_better_places_score_higher() -> None:
    found = Places(np.full(50, 60), np.arange(50), np.zeros(50, np.int64))
    assert (np.diff(recall_in_task(found, 20, 3)) < 1e-12).all()
    assert (np.diff(mean_rank_in_task(found, 20)) > 0).all()
    assert recall_in_task(found, 20)[0] == 1.0


def test_several_right_items_do_not_help_to_guess(block_of: Callable[..., Block]) -> None:
    """The best of five right items would be first by chance in 5 of 9 tasks."""
    random = np.random.default_rng(0)
    right = np.tile(np.arange(40) < 5, (4_000, 1))
    block = block_of(random.random((4_000, 40)), right)
    assert TaskRecall((5,))(block)["recall@1/5-way"].mean() == pytest.approx(0.2, abs=0.01)


def test_large_galleries_lose_no_precision() -> None:
    """C(G - w, c - 1) / C(G, c - 1) as a product of small ratios."""
    wrong, above, ways = 250_000, 1_234, 100
    exact = np.prod([(wrong - above - i) / (wrong - i) for i in range(ways - 1)])
    found = Places(np.array([wrong]), np.array([above]), np.array([0]))
    assert recall_in_task(found, ways)[0] == pytest.approx(exact, rel=1e-7)


class TestDraws:
    def test_their_mean_is_the_expectation(self, drawn: Callable[..., Block]) -> None:
        block = drawn(3, values=4)
        exact = TaskRecall((4,))(block) | TaskRank((4,))(block)
        random = TaskRecall((4,), draws=20_000)(block) | TaskRank((4,), draws=20_000)(block)
        for name, values in exact.items():
            assert np.allclose(random[name], values, atol=0.03, equal_nan=True), name

    def test_the_same_in_any_block_and_another_for_another_seed(
        self, block_of: Callable[..., Block]
    ) -> None:
        random = np.random.default_rng(0)
        scores, right = random.random((9, 30)), np.eye(9, 30)
        draws = TaskRank((5,), draws=3, seed=7)
        whole = draws(block_of(scores, right))["mean-rank/5-way"]
        part = draws(block_of(scores[4:], right[4:], rows=np.arange(4, 9)))["mean-rank/5-way"]
        assert np.array_equal(whole[4:], part)
        other = TaskRank((5,), draws=3, seed=8)(block_of(scores, right))["mean-rank/5-way"]
        assert not np.array_equal(whole, other)
        elsewhere = draws(block_of(scores, right, purpose=("text_to_image", "0")))
        assert not np.array_equal(whole, elsewhere["mean-rank/5-way"])


class TestTooFewOthers:
    @pytest.fixture
    def small(self, block_of: Callable[..., Block]) -> Block:
        return block_of(np.random.default_rng(0).random((3, 8)), np.eye(3, 8))

    def test_larger_tasks_are_left_out(self, small: Block) -> None:
        assert list(TaskRank()(small)) == ["mean-rank/5-way"]
        assert list(TaskRecall()(small)) == ["recall@1/5-way", "recall@3/5-way"]
        assert fitting((5, 8, 9), 7) == (5, 8)

    def test_a_query_of_another_block_may_have_fewer(self, block_of: Callable[..., Block]) -> None:
        block = block_of(np.random.default_rng(0).random((3, 8)), np.eye(3, 8), fewest=3)
        assert TaskRank((4, 5, 8))(block).keys() == {"mean-rank/4-way"}

    def test_asked_for_they_are_refused(self, small: Block) -> None:
        with pytest.raises(DataError, match="only 7 wrong items; 20-way tasks need 19"):
            TaskRecall((5, 20), strict=True)(small)

    def test_a_task_of_one_item(self) -> None:
        with pytest.raises(UsageError, match="at least 2 items, found 1"):
            TaskRank((5, 1))


def test_queries_without_a_right_item_do_not_count(drawn: Callable[..., Block]) -> None:
    block = drawn(5)
    found = TaskRecall((4,))(block)["recall@1/4-way"]
    assert np.isnan(found[block.positives == 0]).all()
    assert np.isfinite(found[block.positives > 0]).all()

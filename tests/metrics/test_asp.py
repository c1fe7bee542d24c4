from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from trope.errors import DataError, UsageError
from trope.metrics.asp import Asp, asp, gain
from trope.metrics.block import Block
from trope.metrics.sorting import ordered, tie_priority


def places(values: np.ndarray, priority: np.ndarray) -> list[int]:
    """From 1: how many items are better, or as good and earlier by priority."""
    mine = [(-float(value), int(first)) for value, first in zip(values, priority, strict=True)]
    return [1 + sum(other < own for other in mine) for own in mine]


def plain_asp(
    scores: np.ndarray, relevance: np.ndarray, priority: np.ndarray, other: np.ndarray
) -> float:
    pairs = zip(places(scores, priority), places(relevance, other), strict=True)
    return sum(min(r, s) / max(r, s) for r, s in pairs) / len(scores)


def plain_gain(scores: np.ndarray, relevance: np.ndarray, priority: np.ndarray, k: int) -> float:
    had = sum(float(m) for m, r in zip(relevance, places(scores, priority), strict=True) if r <= k)
    most = sum(sorted(map(float, relevance), reverse=True)[:k])
    return had / most if most else float("nan")


def graded(seed: int, queries: int, items: int, steps: int) -> tuple[np.ndarray, np.ndarray]:
    """Scores and relevance with many ties."""
    random = np.random.default_rng(seed)
    scores = random.integers(-steps, steps + 1, (queries, items)) / steps
    relevance = np.maximum(random.integers(-steps, steps + 1, (queries, items)), 0) / steps
    return scores.astype(np.float32), relevance.astype(np.float32)


@given(st.integers(0, 99), st.integers(1, 5), st.integers(1, 30), st.sampled_from([1, 3, 1000]))
def test_equals_plain_loops(seed: int, queries: int, items: int, steps: int) -> None:
    scores, relevance = graded(seed, queries, items, steps)
    random = np.random.default_rng(seed)
    priority, other = random.permutation(items), random.permutation(items)
    order = ordered(scores, priority)
    wanted = [plain_asp(s, m, priority, other) for s, m in zip(scores, relevance, strict=True)]
    assert asp(order, relevance, other) == pytest.approx(wanted, abs=1e-12)
    for k in (1, 5, 40):
        wanted = [plain_gain(s, m, priority, k) for s, m in zip(scores, relevance, strict=True)]
        assert gain(order, relevance, k) == pytest.approx(wanted, abs=1e-12, nan_ok=True)


def test_worked_example() -> None:
    """Places 1 3 2 5 4 and 3 1 4 5 2 of five items agree by 8/15."""
    relevance, scores = (-np.array([row], np.float32) for row in ([1, 3, 2, 5, 4], [3, 1, 4, 5, 2]))
    order = ordered(scores, np.arange(5))
    assert asp(order, relevance, np.arange(5))[0] == pytest.approx(8 / 15)


def test_equal_orders_agree_wholly_and_strangers_by_half() -> None:
    random = np.random.default_rng(0)
    scores = random.normal(size=(40, 5_000)).astype(np.float32)
    priority = tie_priority(5_000)
    order = ordered(scores, priority)
    assert asp(order, scores, priority) == pytest.approx(1.0)
    assert asp(order, np.zeros_like(scores), priority).mean() == pytest.approx(0.5, abs=0.005)
    opposite = asp(order, -scores, priority)
    assert (opposite < 0.4).all()


@pytest.mark.parametrize("share", [0.0, 0.05, 0.5])
def test_equal_scores_get_what_chance_gives(share: float) -> None:
    """However few items are relevant: equals are not taken for agreement."""
    random, items = np.random.default_rng(2), 2_000
    grades = random.random((30, items), np.float32)
    grades[random.random(grades.shape) >= share] = 0
    right = sparse.csr_matrix(np.eye(30, items, dtype=bool))
    same, any_order = (
        Block(
            np.arange(30), scores, right, tie_priority(items), relevance={"cider": lambda: grades}
        )
        for scores in (np.zeros_like(grades), random.random(grades.shape, np.float32))
    )
    found, chance = (Asp()(block)["asp/cider"].mean() for block in (same, any_order))
    assert found == pytest.approx((items + 1) / (2 * items), abs=0.02)
    assert found == pytest.approx(chance, abs=0.02)


def test_a_better_order_scores_higher() -> None:
    random = np.random.default_rng(1)
    relevance = random.random((60, 400), np.float32)
    priority = tie_priority(400)
    noise = random.normal(size=relevance.shape).astype(np.float32)
    orders = [ordered(relevance + share * noise, priority) for share in (0.0, 0.1, 0.5, 3.0)]
    by_noise = [asp(order, relevance, priority).mean() for order in orders]
    assert by_noise == sorted(by_noise, reverse=True)
    by_noise = [gain(order, relevance, 10).mean() for order in orders]
    assert by_noise == sorted(by_noise, reverse=True)
    assert by_noise[0] == pytest.approx(1.0)


def test_only_the_orders_count() -> None:
    """Any rising function of scores or relevance leaves ASP as it is; so do items in new places."""
    scores, relevance = graded(3, 20, 300, 1_000)
    priority = tie_priority(300)
    found = asp(ordered(scores, priority), relevance, priority)
    again = asp(ordered(np.exp(scores), priority), relevance * 7 - 3, priority)
    assert again == pytest.approx(found)
    shuffle = np.random.default_rng(0).permutation(300)
    moved = asp(
        ordered(scores[:, shuffle], priority[shuffle]), relevance[:, shuffle], priority[shuffle]
    )
    assert moved == pytest.approx(found)


def test_relevance_must_be_numbers() -> None:
    relevance = np.full((1, 3), np.nan, np.float32)
    with pytest.raises(DataError, match="no number"):
        asp(ordered(np.zeros_like(relevance), np.arange(3)), relevance, np.arange(3))


def test_nothing_relevant_is_no_gain() -> None:
    order = np.array([[0, 1, 2]], np.int32)
    assert np.isnan(gain(order, np.zeros((1, 3), np.float32), 2)).all()


class Counted:
    """Measures of relevance that know how often they were made."""

    def __init__(self, *names: str) -> None:
        random = np.random.default_rng(5)
        self.values = {name: random.random((4, 50), np.float32) for name in names}
        self.made: list[str] = []

    def relevance(self) -> dict[str, Callable[[], np.ndarray]]:
        return {name: lambda name=name: self._make(name) for name in self.values}

    def _make(self, name: str) -> np.ndarray:
        self.made.append(name)
        return self.values[name]


def block(measures: Counted) -> Block:
    scores = np.random.default_rng(9).normal(size=(4, 50)).astype(np.float32)
    right = sparse.csr_matrix(np.eye(4, 50, dtype=bool))
    return Block(np.arange(4), scores, right, tie_priority(50), relevance=measures.relevance())


def test_the_mean_is_that_of_three_measures_each_made_once() -> None:
    measures = Counted("rouge", "mean", "cider-daa", "bleu", "cider")
    asked = block(measures)
    found = Asp()(asked)
    assert set(found) == {f"asp/{name}" for name in ("cider", "cider-daa", "bleu", "rouge", "mean")}
    assert sorted(measures.made) == ["bleu", "cider", "cider-daa", "rouge"]
    three = np.mean([measures.values[name] for name in ("cider", "bleu", "rouge")], axis=0)
    priority = tie_priority(50, "relevance")[asked.priority]
    assert found["asp/mean"] == pytest.approx(asp(asked.order, three, priority))
    for name in ("cider", "cider-daa", "bleu", "rouge"):
        wanted = asp(asked.order, measures.values[name], priority)
        assert np.array_equal(found[f"asp/{name}"], wanted)


def test_a_mean_of_its_own_where_a_part_is_missing() -> None:
    measures = Counted("cider", "mean")
    found = Asp(gains=(5,))(block(measures))
    assert set(found) == {"asp/cider", "asp/mean", "gain@5/cider", "gain@5/mean"}
    assert measures.made == ["cider", "mean"]


def test_a_gain_of_no_items_is_refused() -> None:
    with pytest.raises(UsageError, match="gains: at least 1, found 0"):
        Asp(gains=(5, 0))


def test_gains_of_the_whole_gallery_are_left_out() -> None:
    """They are always 1."""
    scores = np.random.default_rng(0).random((3, 5)).astype(np.float32)
    block = Block(
        np.arange(3),
        scores,
        sparse.csr_matrix(np.eye(3, 5, dtype=bool)),
        tie_priority(5),
        relevance={"cider": lambda: scores[:, ::-1].copy()},
    )
    assert Asp((2, 4, 5, 200))(block).keys() == {"asp/cider", "gain@2/cider", "gain@4/cider"}

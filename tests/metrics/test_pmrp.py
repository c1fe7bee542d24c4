from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trope.errors import UsageError
from trope.metrics import Block
from trope.metrics.pmrp import PMRP


def by_loops(block: Block, query: int, apart: int) -> float:
    """Plausible items among the first R, from label vectors, as the authors do it."""
    labels = block.labeled("")
    queries, items = labels.queries.toarray(), labels.items.toarray()
    gallery = [item for item in range(block.items) if items[item].any()]
    plausible = {item for item in gallery if (queries[query] != items[item]).sum() <= apart}
    if not plausible or not queries[query].any():
        return np.nan
    first = [item for item in block.order[query] if item in gallery][: len(plausible)]
    return len(plausible.intersection(first)) / len(plausible)


@given(
    seed=st.integers(0, 2**32),
    items=st.integers(1, 25),
    values=st.sampled_from([0, 3]),
    apart=st.sampled_from([(0, 1, 2), (2,), (1, 0)]),
)
def test_equals_loops_over_label_vectors(
    drawn: Callable[..., Block], seed: int, items: int, values: int, apart: tuple[int, ...]
) -> None:
    block = drawn(seed, items=items, values=values)
    found = PMRP(apart)(block)
    for query in range(len(block)):
        each = [by_loops(block, query, most) for most in apart]
        mine = [found[f"pmrp/{most}"][query] for most in apart]
        assert mine == pytest.approx(each, nan_ok=True)
        there = [value for value in each if not np.isnan(value)]
        wanted = np.mean(there) if there else np.nan
        assert found["pmrp"][query] == pytest.approx(wanted, nan_ok=True)


def test_many_queries(block_of: Callable[..., Block]) -> None:
    random = np.random.default_rng(0)
    queries, items = random.random((100, 6)) < 0.3, random.random((800, 6)) < 0.3
    block = block_of(random.random((100, 800)), np.eye(100, 800), queries, items)
    found = PMRP()(block)["pmrp/1"]
    assert found == pytest.approx([by_loops(block, i, 1) for i in range(100)], nan_ok=True)


@pytest.mark.parametrize("scores", ["equal", "huge", "tiny", "one far away", "two values"])
def test_whatever_the_scores(block_of: Callable[..., Block], scores: str) -> None:
    random = np.random.default_rng(1)
    queries, items = random.random((3, 4)) < 0.4, random.random((700, 4)) < 0.4
    values = random.standard_normal((3, 700))
    made = {
        "equal": np.ones_like(values),
        "huge": np.sign(values) * 3.4e38 * random.random(values.shape),
        "tiny": np.round(values * 3) * 1e-45,  # multiples of the least there is
        "one far away": np.where(np.arange(700) == 13, 1e30, values),
        "two values": np.sign(values) * 3.4e38,
    }[scores]
    block = block_of(made, np.eye(3, 700), queries, items, priority=random.permutation(700))
    found = PMRP()(block)
    for most in (0, 1, 2):
        known = [by_loops(block, query, most) for query in range(3)]
        assert found[f"pmrp/{most}"] == pytest.approx(known, nan_ok=True)


def test_a_worked_example(block_of: Callable[..., Block]) -> None:
    """An item without labels comes first and is not seen; of two equals one is among the first."""
    queries = np.array([[1, 1, 0]])
    items = np.array([[0, 0, 0], [1, 1, 0], [0, 0, 1], [1, 1, 0], [1, 0, 0]])
    block = block_of(np.array([[9, 8, 7, 6, 5]]), np.eye(1, 5, 1), queries, items)
    found = {name: values[0] for name, values in PMRP()(block).items()}
    assert found["pmrp/0"] == pytest.approx(1 / 2)
    assert found["pmrp/1"] == pytest.approx(2 / 3)
    assert found["pmrp/2"] == pytest.approx(2 / 3)
    assert found["pmrp"] == pytest.approx((1 / 2 + 2 / 3 + 2 / 3) / 3)


def test_another_name_for_other_labels(drawn: Callable[..., Block]) -> None:
    assert list(PMRP((0,), name="pmrp/labels")(drawn(0))) == ["pmrp/labels", "pmrp/labels/0"]


def test_no_number_below_zero() -> None:
    with pytest.raises(UsageError, match="none below 0"):
        PMRP((0, -1))

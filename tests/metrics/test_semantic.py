from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from trope.metrics import Block
from trope.metrics.semantic import SemanticMAP


@given(seed=st.integers(0, 2**32), values=st.sampled_from([0, 3]))
def test_equals_loops_over_the_order(drawn: Callable[..., Block], seed: int, values: int) -> None:
    block = drawn(seed, values=values)
    labels = block.labeled("")
    queries, items = labels.queries.toarray(), labels.items.toarray()
    found = SemanticMAP()(block)["semantic-map"]
    for query in range(len(block)):
        alike = [bool((queries[query] & items[item]).any()) for item in block.order[query]]
        precisions = [sum(alike[: i + 1]) / (i + 1) for i in range(len(alike)) if alike[i]]
        wanted = np.mean(precisions) if precisions else np.nan
        assert found[query] == pytest.approx(wanted, nan_ok=True)


def test_equals_scikit_learn(drawn: Callable[..., Block]) -> None:
    block = drawn(3, queries=50, items=400)
    alike = block.labeled("").shared > 0
    found = SemanticMAP()(block)["semantic-map"]
    for query in np.flatnonzero(alike.any(axis=1)):
        theirs = average_precision_score(alike[query], block.scores[query])
        assert found[query] == pytest.approx(theirs)


def test_pairs_do_not_matter_labels_do(block_of: Callable[..., Block]) -> None:
    """The query's own item comes last, all others of its label first."""
    queries, items = np.array([[1, 0]]), np.array([[1, 0], [1, 0], [0, 1], [1, 0]])
    block = block_of(np.array([[0.3, 0.9, 0.1, 0.8]]), np.array([[1, 0, 0, 0]]), queries, items)
    assert SemanticMAP()(block)["semantic-map"][0] == 1.0

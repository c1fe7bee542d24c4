"""Blocks of scores to measure, from plain arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import sparse

from trope.metrics import Block, Labels


def make_block(
    scores: np.ndarray,
    right: np.ndarray,
    queries: np.ndarray | None = None,
    items: np.ndarray | None = None,
    **more: object,
) -> Block:
    """A block with the labels of queries and items, if any; the first item wins ties."""
    labels = None
    if queries is not None and items is not None:
        labels = Labels(sparse.csr_matrix(queries != 0), sparse.csr_matrix(items != 0))
    given = {"rows": np.arange(len(scores)), "priority": np.arange(scores.shape[1])} | more
    return Block(
        scores=scores.astype(np.float32),
        right=sparse.csr_matrix(right.astype(bool)),
        labels=labels,
        **given,
    )


@pytest.fixture
def block_of() -> Callable[..., Block]:
    """A block from plain arrays."""
    return make_block


@pytest.fixture
def drawn() -> Callable[..., Block]:
    """A block of random scores; few distinct values make ties."""

    def draw(seed: int, queries: int = 6, items: int = 15, values: int = 0) -> Block:
        random = np.random.default_rng(seed)
        scores = random.normal(size=(queries, items))
        if values:
            scores = random.integers(0, values, (queries, items)) / values
        right = random.random((queries, items)) < 0.2
        right[:: 4 if queries > 3 else 9] = False
        return make_block(
            scores,
            right,
            random.random((queries, 5)) < 0.3,
            random.random((items, 5)) < 0.3,
            priority=random.permutation(items),
            rows=np.arange(queries) + 3,
        )

    return draw

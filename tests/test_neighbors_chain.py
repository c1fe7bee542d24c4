"""The sparse matrix of steps against loops over neighbors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trope.errors import DataError
from trope.neighbors import Chain, NeighborTable
from trope.neighbors.table import Made


@st.composite
def tables(draw: st.DrawFn) -> NeighborTable:
    """Rows with differently many neighbors, some with none."""
    count, k = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    ids = np.full((count, k), -1, np.int32)
    for i in range(count):
        others = random.permutation([j for j in range(count) if j != i])
        some = others[: random.integers(0, k + 1)]
        ids[i, : len(some)] = some
    return NeighborTable(ids, np.zeros(ids.shape, np.float32), Made("", "l2", "exact", k))


def of(table: NeighborTable, i: int) -> list[int]:
    return [j for j in table.ids[i].tolist() if j >= 0]


@given(tables())
def test_two_steps(table: NeighborTable) -> None:
    chain = Chain.of(table, np.float64)
    assert chain.counts.tolist() == [len(of(table, i)) for i in range(len(table))]
    for i in range(len(table)):
        paths = [(r, c) for r in of(table, i) for c in of(table, r)]
        likely = [1 / len(of(table, i)) / len(of(table, r)) for r, _ in paths]
        back = sum(p for (_, c), p in zip(paths, likely, strict=True) if c == i)
        assert chain.arriving[i] == pytest.approx(sum(likely))
        assert chain.returning[i] == pytest.approx(back)


@pytest.mark.parametrize("wrong", [3, 2**30, -2])
def test_a_step_out_of_the_table_is_refused(wrong: int) -> None:
    ids = np.array([[1, 2], [2, wrong], [0, 1]], np.int32)
    table = NeighborTable(ids, np.zeros((3, 2), np.float32), Made("", "l2", "exact", 2))
    with pytest.raises(DataError, match="none of the table's 3 rows"):
        Chain.of(table)

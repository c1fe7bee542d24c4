"""The products with the sparse matrix against double loops over neighbors."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trope.errors import DataError, UsageError
from trope.neighbors import Chain, NeighborTable, Search, neighbors
from trope.neighbors.table import Made


@st.composite
def chains(draw: st.DrawFn) -> tuple[NeighborTable, np.ndarray]:
    """Rows with differently many neighbors, some with none, and embeddings of any length."""
    count, k = draw(st.integers(1, 12)), draw(st.integers(1, 5))
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    ids = np.full((count, k), -1, np.int32)
    for i in range(count):
        others = random.permutation([j for j in range(count) if j != i])
        some = others[: random.integers(0, k + 1)]
        ids[i, : len(some)] = some
    table = NeighborTable(ids, np.zeros(ids.shape, np.float32), Made("", "l2", "exact", k))
    return table, random.normal(size=(count, 3))


def of(table: NeighborTable, i: int) -> list[int]:
    return [j for j in table.ids[i].tolist() if j >= 0]


def mean(values: list[float], weights: list[float]) -> float:
    return float(np.average(values, weights=weights)) if values else 0.0


@given(chains(), st.booleans())
def test_diversity(case: tuple[NeighborTable, np.ndarray], itself: bool) -> None:
    table, bank = case
    expected = []
    for i in range(len(table)):
        pairs = [(r, c) for r in of(table, i) for c in of(table, i) if itself or r != c]
        expected.append(mean([bank[r] @ bank[c] for r, c in pairs], [1] * len(pairs)))
    found = Chain.of(table, np.float64).diversity(bank, itself=itself)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@given(chains(), st.booleans())
def test_discrepancy(case: tuple[NeighborTable, np.ndarray], itself: bool) -> None:
    table, bank = case
    expected = []
    for i in range(len(table)):
        steps = [(r, c) for r in of(table, i) for c in of(table, r) if itself or c != i]
        weights = [1 / len(of(table, r)) for r, _ in steps]
        expected.append(mean([bank[c] @ bank[i] for _, c in steps], weights))
    found = Chain.of(table, np.float64).discrepancy(bank, itself=itself)
    np.testing.assert_allclose(found, expected, atol=1e-9)


def test_the_papers_formulas() -> None:
    """N neighbors everywhere and rows of length one: sums over N^2 products."""
    random = np.random.default_rng(0)
    n, k = 40, 6
    bank = random.normal(size=(n, 5))
    bank /= np.linalg.norm(bank, axis=1, keepdims=True)
    table = neighbors(random.normal(size=(n, 4)).astype(np.float32), Search(k))
    chain = Chain.of(table, np.float64)
    assert np.allclose(chain.matrix.sum(axis=1), 1)
    near, second = bank[table.ids], bank[table.ids[table.ids].reshape(n, -1)]
    diversity = np.einsum("nrd,ncd->n", near, near) / k**2
    discrepancy = np.einsum("nrd,nd->n", second, bank) / k**2
    back = (chain.matrix @ chain.matrix).diagonal()
    np.testing.assert_allclose(chain.average(bank), near.mean(axis=1), atol=1e-14)
    np.testing.assert_allclose(chain.diversity(bank), diversity, atol=1e-14)
    np.testing.assert_allclose(chain.discrepancy(bank), discrepancy, atol=1e-14)
    np.testing.assert_allclose(chain.returning, back, atol=1e-14)
    np.testing.assert_allclose(
        chain.diversity(bank, itself=False), (k * diversity - 1) / (k - 1), atol=1e-14
    )
    np.testing.assert_allclose(
        chain.discrepancy(bank, itself=False), (discrepancy - back) / (1 - back), atol=1e-14
    )


@pytest.mark.parametrize("wrong", [3, 2**30, -2])
def test_a_step_out_of_the_table_is_refused(wrong: int) -> None:
    ids = np.array([[1, 2], [2, wrong], [0, 1]], np.int32)
    table = NeighborTable(ids, np.zeros((3, 2), np.float32), Made("", "l2", "exact", 2))
    with pytest.raises(DataError, match="none of the table's 3 rows"):
        Chain.of(table)


def test_direction_and_precision() -> None:
    """Neighbors that agree score higher than neighbors that differ; 32 bits stay 32 bits."""
    ids = np.array([[1, 2], [2, 0], [0, 1]], np.int32)
    table = NeighborTable(ids, np.zeros((3, 2), np.float32), Made("", "l2", "exact", 2))
    chain = Chain.of(table)
    agree = np.eye(4, dtype=np.float32)[[0, 1, 1]]
    differ = np.eye(4, dtype=np.float32)[[0, 1, 2]]
    assert chain.diversity(agree)[0] > chain.diversity(differ)[0]
    alike = np.eye(4, dtype=np.float32)[[0, 0, 0]]
    assert chain.discrepancy(alike)[0] > chain.discrepancy(differ)[0]
    for itself in (True, False):
        assert chain.diversity(agree, itself=itself).dtype == np.float32
        assert chain.discrepancy(agree, itself=itself).dtype == np.float32


@pytest.mark.usefixtures("untyped")
@pytest.mark.parametrize("shape", [(4,), (3, 2), (4, 2, 2), (5, 2)])
def test_a_vector_for_each_row_is_wanted(shape: tuple[int, ...]) -> None:
    chain = Chain.of(neighbors(np.eye(4, dtype=np.float32), Search(2)))
    for score in (chain.average, chain.diversity, chain.discrepancy):
        with pytest.raises(UsageError, match="bank: a vector for each of the table's 4 rows"):
            score(np.ones(shape, np.float32))

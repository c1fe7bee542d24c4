from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trope.features import FeatureTable


def table(sizes: list[int], seed: int) -> tuple[FeatureTable, np.ndarray]:
    """Items scattered over parts, and the same items in one array."""
    random = np.random.default_rng(seed)
    parts = tuple(random.normal(size=(size, 2, 3)).astype(np.float32) for size in sizes)
    places = [(part, offset) for part, size in enumerate(sizes) for offset in range(size)]
    order = random.permutation(len(places))
    part, offset = np.array(places).reshape(-1, 2)[order].T
    values = np.stack([parts[p][o] for p, o in np.array(places)[order]])
    return FeatureTable(np.arange(len(places)), parts, part, offset), values


sizes = st.lists(st.integers(0, 4), min_size=1, max_size=4).filter(any)


@given(sizes, st.integers(0, 99), st.data())
def test_reading_by_hand(sizes: list[int], seed: int, data: st.DataObject) -> None:
    made, values = table(sizes, seed)
    wanted = data.draw(st.lists(st.integers(0, sum(sizes) - 1)))
    np.testing.assert_array_equal(made.read(np.array(wanted, np.int64)), values[wanted])
    np.testing.assert_array_equal(made.all(), values)
    assert (len(made), made.shape, made.dtype) == (sum(sizes), (2, 3), np.float32)


def test_rows_without_a_picture_cannot_be_read() -> None:
    made, _ = table([3], 0)
    for wrong in (-1, 3):
        with pytest.raises(IndexError, match="position"):
            made.read(np.array([0, wrong]))


def test_what_is_read_is_a_copy() -> None:
    made, values = table([3], 0)
    made.read(np.arange(3))[:] = 0
    np.testing.assert_array_equal(made.all(), values)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.int32])
def test_average_over_regions(dtype: type) -> None:
    regions = np.random.default_rng(0).integers(0, 9, (4, 5, 3)).astype(dtype)
    items = np.arange(4)
    made = FeatureTable(items, (regions,), np.zeros_like(items), items, average=True)
    assert made.shape == (3,)
    np.testing.assert_allclose(made.all(), regions.astype(float).mean(axis=1), rtol=1e-3)

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import trope
from trope.data.samples import Samples, drawn, samples
from trope.errors import DataError

NUMBERS = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=12)


def made(columns: list[tuple[int, int]]) -> Samples:
    images, meaning = np.array(columns, np.int64).T
    return Samples(np.arange(len(columns)), images, meaning)


@settings(max_examples=40)
@given(columns=NUMBERS, data=st.data())
def test_same_equals_plain_loops(columns: list[tuple[int, int]], data: st.DataObject) -> None:
    some = st.lists(st.integers(0, len(columns) - 1), min_size=1, max_size=6)
    left, right = data.draw(some), data.draw(some)
    found = made(columns).same(np.array(left), np.array(right))
    expected = [
        [columns[i][0] == columns[j][0] or columns[i][1] == columns[j][1] for j in right]
        for i in left
    ]
    assert found.tolist() == expected


@settings(max_examples=40)
@given(count=st.integers(1, 50), batch=st.integers(1, 20), seed=st.integers(0, 5))
def test_an_order_is_a_permutation_cut_into_batches(count: int, batch: int, seed: int) -> None:
    chosen = made([(i, i) for i in range(count)])
    found = chosen.order(seed, 3, batch)
    size = min(batch, count)
    assert found.shape == (count // size, size)
    assert len(set(found.ravel().tolist())) == found.size
    assert 0 <= found.min() <= found.max() < count
    np.testing.assert_array_equal(found, chosen.order(seed, 3, batch))


def test_each_epoch_and_seed_has_an_order_of_its_own() -> None:
    chosen = made([(i, i) for i in range(40)])
    orders = [chosen.order(seed, epoch, 40) for seed in (0, 1) for epoch in (0, 1)]
    assert len({order.tobytes() for order in orders}) == 4


def test_whoever_is_left_out_changes() -> None:
    chosen = made([(i, i) for i in range(7)])
    seen = {i for epoch in range(8) for i in chosen.order(0, epoch, 5).ravel().tolist()}
    assert seen == set(range(7))


def test_neighbors_are_drawn_uniformly_from_the_real_ones() -> None:
    ids = np.array([[3, 1, 2, 4], [0, 2, -1, -1], [4, -1, -1, -1], [-1, -1, -1, -1], [3, 2, 1, 0]])
    epochs = 4_000
    counts = np.zeros((5, 5))
    for epoch in range(epochs):
        near, there = drawn(ids, 0, epoch)
        counts[np.arange(5), near] += 1
        assert there.tolist() == [True, True, True, False, True]
        assert near[3] == 3
    for row, neighbors in enumerate([[3, 1, 2, 4], [0, 2], [4], [3], [3, 2, 1, 0]]):
        assert counts[row, neighbors].sum() == epochs
        np.testing.assert_allclose(counts[row, neighbors] / epochs, 1 / len(neighbors), atol=0.04)


def test_draws_follow_from_seed_and_epoch_alone() -> None:
    ids = np.random.default_rng(0).integers(0, 100, (100, 9))
    first, again = drawn(ids, 1, 2), drawn(ids, 1, 2)
    np.testing.assert_array_equal(first[0], again[0])
    others = (drawn(ids, 1, 3)[0], drawn(ids, 2, 2)[0])
    assert all((other != first[0]).mean() > 0.5 for other in others)


def test_draws_of_different_samples_are_independent() -> None:
    ids = np.tile(np.arange(2), (400, 1))
    near, _ = drawn(ids, 0, 0)
    assert 140 < int(near.sum()) < 260


ROWS = [
    {"texts": ["A ship", "a  SHIP", "   "], "split": "train"},
    {"texts": ["bread", "\u200b"], "split": "train"},
    {"texts": ["lost"], "split": "train"},
    {"texts": ["a ship", "salt"], "split": "val"},
    {"texts": ["no split"]},
    {"texts": [], "split": "train"},
    {"texts": ["salt"], "split": "train"},
]
IMAGES = np.array([5, 2, -1, 2, 0, 1, 5])


@pytest.fixture
def pairs(tmp_path: Path) -> trope.Pairs:
    lines = [json.dumps({"id": f"r{i}"} | row) for i, row in enumerate(ROWS)]
    (tmp_path / "pairs.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return trope.open(tmp_path / "pairs.jsonl")


def test_blank_texts_and_missing_pictures_are_left_out(pairs: trope.Pairs) -> None:
    flat = pairs.flat_texts()[0].to_pylist()
    train, val = (samples(pairs, IMAGES, split) for split in ("train", "val"))
    assert [flat[i] for i in train.texts] == ["A ship", "a  SHIP", "bread", "salt"]
    assert train.images.tolist() == [5, 5, 2, 5]
    assert [flat[i] for i in val.texts] == ["a ship", "salt"]
    assert val.images.tolist() == [2, 2]
    assert (len(train), len(val)) == (4, 2)


def test_equal_texts_have_one_meaning_across_splits(pairs: trope.Pairs) -> None:
    train, val = (samples(pairs, IMAGES, split) for split in ("train", "val"))
    ship, again, bread, salt = train.meaning.tolist()
    assert ship == again == val.meaning[0]
    assert salt == val.meaning[1]
    assert len({ship, bread, salt}) == 3


def test_a_split_without_a_usable_row_is_refused(pairs: trope.Pairs) -> None:
    with pytest.raises(DataError, match="split 'test' has no row"):
        samples(pairs, IMAGES, "test")
    with pytest.raises(DataError, match="split 'val' has no row"):
        samples(pairs, np.where(IMAGES == 2, -1, IMAGES), "val")

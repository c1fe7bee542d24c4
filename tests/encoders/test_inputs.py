from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from trope.data.vocabulary import PAD
from trope.encoders import inputs
from trope.encoders.inputs import Inputs, Mapped, Rows, Tokens, Words, stored
from trope.features import FeatureTable
from trope.features.tokens import Ragged, TokenTable

RANDOM = np.random.default_rng(0)
VALUES = RANDOM.normal(size=(7, 3)).astype(np.float32)
CHOSEN = [np.array([2, 0, 2]), np.array([6]), np.array([1, 3, 4, 5])]


def table(values: np.ndarray) -> FeatureTable:
    """Two files; the pictures lie in them in no order."""
    part = np.array([0, 1, 0, 1, 1, 0, 1])
    offset = np.array([2, 0, 1, 3, 2, 0, 1])
    parts = tuple(np.empty((size, *values.shape[1:]), values.dtype) for size in (3, 4))
    for i in range(7):
        parts[part[i]][offset[i]] = values[i]
    return FeatureTable(np.arange(7), parts, part, offset)


@pytest.mark.parametrize(
    "made", [Rows(torch.from_numpy(VALUES)), Mapped(table(VALUES)), stored(table(VALUES))]
)
def test_rows_of_chosen_items(made: Inputs) -> None:
    assert len(made) == 7
    assert isinstance(made, Inputs)
    for epoch in (None, 3):
        found = list(made.batches(CHOSEN, epoch))
        assert len(found) == len(CHOSEN)
        for items, (values,) in zip(CHOSEN, found, strict=True):
            np.testing.assert_array_equal(values.numpy(), VALUES[items])


def test_halves_stay_halves() -> None:
    halves = VALUES.astype(np.float16)
    for made in (stored(table(halves)), Mapped(table(halves))):
        ((values,),) = made.batches([np.array([5, 1])], None)
        assert values.dtype == torch.float16
        np.testing.assert_array_equal(values.numpy(), halves[[5, 1]])


def test_what_does_not_fit_into_memory_stays_on_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    size = VALUES.nbytes
    monkeypatch.setattr(inputs, "IN_MEMORY", size)
    assert isinstance(stored(table(VALUES)), Rows)
    monkeypatch.setattr(inputs, "IN_MEMORY", size - 1)
    assert isinstance(stored(table(VALUES)), Mapped)


def test_tokens_are_cut_after_the_longest_chosen() -> None:
    values = np.zeros((4, 6, 2), np.float16)
    lengths = [3, 5, 0, 1]
    for i, length in enumerate(lengths):
        values[i, :length] = RANDOM.normal(size=(length, 2))
    made = Tokens(TokenTable.of(Ragged.of(values)))
    assert len(made) == 4
    found = list(made.batches([np.array([3, 0]), np.array([2]), np.array([1, 2])], None))
    for items, longest, (tokens, present) in zip(
        ([3, 0], [2], [1, 2]), (3, 1, 5), found, strict=True
    ):
        np.testing.assert_array_equal(tokens.numpy(), values[items, :longest])
        assert present.sum(dim=1).tolist() == [lengths[i] for i in items]
        assert present.tolist() == [[p < lengths[i] for p in range(longest)] for i in items]


@given(texts=st.lists(st.lists(st.integers(1, 50), max_size=6), max_size=8), data=st.data())
def test_words_equal_plain_lists(texts: list[list[int]], data: st.DataObject) -> None:
    made = Words.of(np.array(text, np.int64) for text in texts)
    assert len(made) == len(texts)
    if not texts:
        return
    numbers = st.lists(st.integers(0, len(texts) - 1), min_size=1, max_size=5)
    chosen = data.draw(st.lists(numbers, min_size=1, max_size=3))
    found = made.batches([np.array(items) for items in chosen], None)
    for items, (ids, lengths) in zip(chosen, found, strict=True):
        longest = max([1, *(len(texts[i]) for i in items)])
        assert ids.tolist() == [texts[i] + [PAD] * (longest - len(texts[i])) for i in items]
        assert lengths.tolist() == [len(texts[i]) for i in items]


@pytest.mark.parametrize(
    "made",
    [
        lambda: Rows(torch.zeros(3, 2)),
        lambda: Tokens(TokenTable.of(Ragged.of(np.zeros((3, 2, 2))))),
        lambda: Mapped(table(VALUES)),
        lambda: Words.of([np.array([4, 5]), np.array([6])]),
    ],
)
def test_batches_are_made_one_at_a_time(made: Callable[[], Inputs]) -> None:
    asked: list[int] = []

    def choices() -> object:
        for i in (0, 1):
            asked.append(i)
            yield np.array([i])

    next(iter(made().batches(choices(), 0)))  # type: ignore[arg-type]
    assert asked == [0]

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from trope.spaces.captions import Corpus
from trope.spaces.captions.lcs import position_masks, strips

numbers = st.lists(st.integers(0, 3), max_size=12) | st.lists(
    st.integers(0, 5), min_size=50, max_size=200
)


def lcs_length(one: np.ndarray, other: np.ndarray) -> int:
    words = int(max(one.max(initial=0), other.max(initial=0))) + 1
    return int(strips(one, other, np.zeros(words, np.uint64)))


def plain(one: list[int], other: list[int]) -> int:
    """The whole table, cell by cell."""
    row = [0] * (len(other) + 1)
    for a in one:
        before = row[:]
        for j, b in enumerate(other, start=1):
            row[j] = before[j - 1] + 1 if a == b else max(before[j], row[j - 1])
    return row[-1]


@given(numbers, numbers)
def test_any_lengths_as_the_whole_table(one: list[int], other: list[int]) -> None:
    found = lcs_length(np.array(one, np.int64), np.array(other, np.int64))
    assert found == plain(one, other)


@pytest.mark.parametrize("length", [63, 64, 65, 128, 129])
def test_at_the_edge_of_a_machine_word(length: int) -> None:
    same = np.arange(length)
    assert lcs_length(same, same) == length
    assert lcs_length(same, same[::-1].copy()) == 1
    assert lcs_length(np.zeros(length, np.int64), np.zeros(2 * length, np.int64)) == length


def test_a_megabyte_of_words_takes_neither_time_nor_memory() -> None:
    text = np.random.default_rng(0).integers(0, 9_000, 20_000)
    assert lcs_length(text, text) == 20_000


def test_masks_say_where_words_stand() -> None:
    corpus = Corpus.from_tokens([[["a", "b", "a"], [], ["b"]], [["a"] * 65]])
    assert position_masks(corpus).tolist() == [0b101, 0b010, 0b1, 0]

from __future__ import annotations

from typing import Literal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trope.data import shingles
from trope.data.shingles import Shingled, first_members, portions
from trope.data.text import tokenize

Unit = Literal["characters", "words"]
some_texts = st.lists(st.text(alphabet="ab ,é日", min_size=1, max_size=12), min_size=1, max_size=8)


def plain(text: str, unit: Unit, width: int) -> set[str]:
    """The shingles of a text that is in normal form already."""
    units = tokenize(text) if unit == "words" else list(text)
    return {" ".join(units[i : i + width]) for i in range(max(1, len(units) - width + 1))}


@settings(deadline=None)
@given(some_texts, st.sampled_from(["characters", "words"]), st.integers(1, 6), st.integers(0, 3))
def test_hashes_stand_for_the_shingles_of_a_plain_loop(
    texts: list[str], unit: Unit, width: int, seed: int
) -> None:
    shingled = Shingled(texts, unit, width, seed)
    normal = list(shingled.normal(range(len(texts))))
    rows = np.array([row for row, text in enumerate(normal) if text], dtype=np.int64)
    hashes, offsets = shingled.shingles(rows) if len(rows) else (np.zeros(0), np.zeros(1, int))
    sets = [set(part.tolist()) for part in np.split(hashes, offsets[1:-1])] if len(rows) else []
    expected = [plain(normal[row], unit, width) for row in rows]
    assert [len(found) for found in sets] == [len(wanted) for wanted in expected]
    for i in range(len(rows)):
        for j in range(i):
            assert len(sets[i] & sets[j]) == len(expected[i] & expected[j])


@settings(deadline=None)
@given(some_texts.filter(lambda texts: all(text.strip() for text in texts)), st.integers(1, 4))
def test_jaccard_equals_plain_sets(texts: list[str], width: int) -> None:
    shingled = Shingled(texts, "characters", width, seed=0)
    left, right = (side.ravel() for side in np.indices((len(texts), len(texts))))
    sets = [plain(text, "characters", width) for text in shingled.normal(range(len(texts)))]
    expected = [len(one & other) / len(one | other) for one in sets for other in sets]
    assert shingled.jaccard(left, right).tolist() == expected


def test_a_repeated_shingle_counts_once() -> None:
    shingled = Shingled(["ab" * 1000, "ab", "ba" * 700], "characters", 2, seed=0)
    assert shingled.jaccard(np.array([0, 0]), np.array([1, 2])).tolist() == [0.5, 1.0]


@pytest.mark.parametrize(
    "wrap", [list, pa.array, lambda texts: pa.chunked_array([texts[:3], texts[3:]])]
)
def test_identical_texts_differ_in_form_alone(wrap: type) -> None:
    texts = ["Straße  É\n", None, "x", "STRASSE e\u0301", "", " \t", "X", "y", "\u2003", None]
    first, sizes = Shingled(wrap(texts), "characters", 5, seed=0).identical()
    assert first.tolist() == [0, 1, 2, 0, 4, 5, 2, 7, 8, 9]
    assert sizes.tolist() == [9, 0, 1, 9, 0, 0, 1, 1, 0, 0]


def test_words_ignore_punctuation() -> None:
    first, sizes = Shingled(["Hello, world!", "hello world", "?!", "!!"], "words", 2, 0).identical()
    assert first.tolist() == [0, 0, 2, 3]
    assert sizes.tolist() == [11, 11, 0, 0]


def test_the_padding_of_a_short_text_is_no_character() -> None:
    shingled = Shingled(["a", "a b", "a c"], "characters", 2, seed=0)
    assert shingled.jaccard(np.array([0, 1]), np.array([1, 2])).tolist() == [0.0, 1 / 3]


def test_half_a_character_does_not_stop_the_work() -> None:
    shingled = Shingled(["a\ud800bcdef", "a\ud800bcdeg"], "characters", 3, seed=0)
    assert shingled.identical()[0].tolist() == [0, 1]
    assert shingled.jaccard(np.array([0]), np.array([1])).tolist() == [4 / 6]


@settings(deadline=None)
@given(st.lists(st.integers(0, 30), max_size=30))
def test_portions_cover_everything_once(sizes: list[int]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shingles, "_AT_ONCE", 20)
        parts = portions(np.array(sizes, dtype=np.int64))
    assert [row for part in parts for row in range(part.start, part.stop)] == list(
        range(len(sizes))
    )
    assert all(sum(sizes[part]) <= 20 + 30 for part in parts)


@settings(deadline=None)
@given(st.lists(st.integers(0, 5), max_size=20))
def test_first_members(labels: list[int]) -> None:
    found = first_members(np.array(labels, dtype=np.int64))
    assert found.tolist() == [labels.index(label) for label in labels]

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trope.data.vocabulary import PAD, SPECIAL, UNKNOWN, Vocabulary
from trope.errors import DataError

texts = st.lists(st.lists(st.text(min_size=1, max_size=3), max_size=6), max_size=6)


def test_frequent_words_come_first_and_ties_in_word_order() -> None:
    vocabulary = Vocabulary.build([["b", "a", "c"], ["c", "b"], ["c", "é", "日"]])
    assert vocabulary.words == ("c", "b", "a", "é", "日")
    assert vocabulary.encode(["c", "日", "nowhere"]).tolist() == [2, 6, UNKNOWN]
    assert len(vocabulary) == 7


@settings(deadline=None)
@given(texts, st.integers(1, 3), st.none() | st.integers(1, 4))
def test_build_equals_plain_counting(
    tokens: list[list[str]], min_count: int, max_size: int | None
) -> None:
    counts: Counter[str] = Counter()
    for text in tokens:
        for word in text:
            counts[word] += 1
    expected = sorted(
        (word for word in counts if counts[word] >= min_count),
        key=lambda word: (-counts[word], word),
    )
    vocabulary = Vocabulary.build(tokens, min_count, max_size)
    assert list(vocabulary.words) == expected[:max_size]
    assert Vocabulary.build(reversed(tokens), min_count, max_size) == vocabulary


@settings(deadline=None)
@given(texts, texts)
def test_batches_equal_plain_loops(training: list[list[str]], tokens: list[list[str]]) -> None:
    vocabulary = Vocabulary.build(training)
    padded, lengths = vocabulary.encode_batch(tokens)
    longest = max((len(text) for text in tokens), default=0)
    assert padded.shape == (len(tokens), longest)
    assert lengths.tolist() == [len(text) for text in tokens]
    for row, text in enumerate(tokens):
        numbers = [2 + vocabulary.words.index(w) if w in vocabulary.words else 1 for w in text]
        assert vocabulary.encode(text).tolist() == numbers
        assert padded[row].tolist() == numbers + [PAD] * (longest - len(text))


def test_unknown_share() -> None:
    vocabulary = Vocabulary.build([["a", "b"], ["a"]], min_count=2)
    assert vocabulary.unknown_share([["a", "b"], ["c", "a"], []]) == 0.5
    assert vocabulary.unknown_share(iter([])) == 0.0


def test_words_spelled_like_the_special_ones_do_not_collide() -> None:
    vocabulary = Vocabulary.build([["<unk>", "<pad>", "<pad>"]])
    assert vocabulary.encode([*SPECIAL, "other"]).tolist() == [2, 3, UNKNOWN]
    assert Vocabulary.build([["a"]]).encode(SPECIAL).tolist() == [UNKNOWN, UNKNOWN]


@settings(deadline=None)
@given(texts)
def test_a_saved_vocabulary_is_the_same(
    tmp_path_factory: pytest.TempPathFactory, tokens: list[list[str]]
) -> None:
    path = tmp_path_factory.mktemp("vocabulary") / "words.json"
    vocabulary = Vocabulary.build(tokens)
    vocabulary.save(path)
    loaded = Vocabulary.load(path)
    assert loaded == vocabulary
    for text in tokens:
        np.testing.assert_array_equal(loaded.encode(text), vocabulary.encode(text))


def test_a_word_that_is_not_text_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"words\.json: a word of the vocabulary is not valid"):
        Vocabulary(("a", "\ud800")).save(tmp_path / "words.json")
    assert list(tmp_path.iterdir()) == []


GOOD = {"format": "trope-vocabulary-1", "words": ["a", "b"]}


@pytest.mark.parametrize(
    ("document", "reason"),
    [
        ("{", "not valid JSON"),
        ("[]", "expected the two fields"),
        (json.dumps({**GOOD, "extra": 1}), "expected the two fields"),
        (json.dumps({"words": []}), "expected the two fields"),
        (json.dumps({**GOOD, "format": "other"}), "expected format .* found 'other'"),
        (json.dumps({**GOOD, "words": "ab"}), "'words' is not a list"),
        (json.dumps({**GOOD, "words": ["a", 7]}), "entry 1 of 'words' is not a word: 7"),
        (json.dumps({**GOOD, "words": ["a", ""]}), "entry 1 of 'words' is not a word: ''"),
        (json.dumps({**GOOD, "words": ["a", "b", "a"]}), "the word 'a' stands twice"),
        ("\xff\xfe", "not valid JSON"),
    ],
)
def test_a_bad_file_is_one_clear_error(tmp_path: Path, document: str, reason: str) -> None:
    path = tmp_path / "words.json"
    path.write_bytes(document.encode("latin-1"))
    with pytest.raises(DataError, match=rf"words\.json: (not a vocabulary: )?{reason}"):
        Vocabulary.load(path)


def test_a_missing_file_is_one_clear_error(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"gone\.json: No such file"):
        Vocabulary.load(tmp_path / "gone.json")


@pytest.mark.parametrize("limits", [{"min_count": 0}, {"max_size": 0}])
def test_build_refuses_nonsense(limits: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="must be at least 1"):
        Vocabulary.build([["a"]], **limits)

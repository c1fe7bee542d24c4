from __future__ import annotations

import numpy as np
import pytest
from caption_samples import IMAGES, Captions, few, image_captions, whole
from hypothesis import given
from hypothesis import strategies as st
from rouge import Rouge
from rouge.rouge_score import _recon_lcs

from trope.spaces.captions import Corpus
from trope.spaces.captions.subsequences import common_words, common_words_of_long

KINDS = ["rouge-1", "rouge-2", "rouge-l"]
numbers = st.lists(st.integers(0, 3), max_size=12) | st.lists(
    st.integers(0, 9), min_size=50, max_size=140
)


def theirs(images: list[Captions]) -> np.ndarray:
    """The package as DAA calls it: the caption against the references with full stops between."""
    captions = [" ".join(tokens) for references in images for tokens in references]
    found = np.zeros((len(images), len(captions)))
    for i, references in enumerate(images):
        target = ".".join(" ".join(tokens) for tokens in references)
        for j, caption in enumerate(captions):
            if caption and target.strip("."):
                scores = Rouge().get_scores(caption, target)[0]
                found[i, j] = np.mean([scores[kind]["f"] for kind in KINDS])
    return found


def test_equals_the_package() -> None:
    short = [[c for c in references if len(c) < 150] for references in IMAGES]
    images = [references for references in short if references]
    found = whole("rouge-daa", Corpus.from_tokens(images))
    assert found == pytest.approx(theirs(images), abs=1e-6)


@few
@given(image_captions)
def test_equals_the_package_on_any_captions(images: list[Captions]) -> None:
    found = whole("rouge-daa", Corpus.from_tokens(images))
    assert found == pytest.approx(theirs(images), abs=1e-6)


@given(numbers, st.lists(numbers, min_size=1, max_size=3))
def test_words_of_the_subsequences_are_the_packages(
    caption: list[int], references: list[list[int]]
) -> None:
    text = np.array([word for reference in references for word in reference], np.int64)
    ends = np.cumsum([len(reference) for reference in references])
    masks, seen = np.zeros(10, np.uint64), np.zeros(10, np.int64)
    tokens = np.array(caption, np.int64)
    words = set().union(*(_recon_lcs(reference, caption)._ngrams for reference in references))
    assert common_words_of_long(tokens, text, ends, masks, seen, 1) == len(words)
    assert set(np.flatnonzero(seen)) == words
    if 0 < len(caption) <= 64:
        room = np.empty((2, 140), np.uint64)
        table = (room[0], room[1], np.empty(140, np.int64))
        assert common_words(tokens, text, ends, table, masks) == len(words)
    assert not masks.any()


def test_words_count_once_and_pairs_stand_across_references() -> None:
    corpus = Corpus.from_tokens([[["a", "a", "b"], ["c"]], [["b", "c"]]])
    found = whole("rouge-daa", corpus)
    # {b, c} of {a, b, c}; (b, c) of (a, a), (a, b), (b, c); both words of the references' own
    assert found[0, 2] == pytest.approx((4 / 5 + 2 / 4 + 4 / 5) / 3)

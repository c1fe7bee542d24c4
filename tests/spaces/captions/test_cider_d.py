from __future__ import annotations

import numpy as np
import pytest
from caption_samples import CAPTIONS, CORPUS, IMAGES, Captions, few, image_captions, whole
from hypothesis import given
from pycocoevalcap.cider.cider_scorer import CiderScorer

from trope.spaces.captions import Corpus


def theirs(images: list[Captions]) -> np.ndarray:
    """The coco-caption code, every caption as the candidate of every image."""
    references = [[" ".join(tokens) for tokens in refs] for refs in images]
    columns = []
    for caption in (" ".join(tokens) for refs in images for tokens in refs):
        scorer = CiderScorer()
        for refs in references:
            scorer += (caption, refs)
        columns.append(scorer.compute_score()[1])
    return np.stack(columns, axis=1)


def test_equals_the_coco_caption_code() -> None:
    assert whole("cider-d", CORPUS) == pytest.approx(theirs(IMAGES), rel=1e-6, abs=1e-6)


@few
@given(image_captions)
def test_equals_the_coco_caption_code_on_any_captions(images: list[Captions]) -> None:
    if not any(caption for references in images for caption in references):
        return  # theirs fails without a single word
    found = whole("cider-d", Corpus.from_tokens(images))
    assert found == pytest.approx(theirs(images), rel=1e-6, abs=1e-6)


def test_unseen_ngrams_count_as_seen_once() -> None:
    """A candidate alone: its n-grams are in no reference, as those of generated captions are."""
    candidate = ["w0", "w1", "never", "seen", "before", "w1", "w2"]
    scorer = CiderScorer()
    for references in IMAGES:
        scorer += (" ".join(candidate), [" ".join(tokens) for tokens in references])
    expected = scorer.compute_score()[1]
    images = Corpus.from_tokens([*IMAGES, [candidate]])
    found = whole("cider-d", images, CORPUS)[: len(IMAGES), len(CAPTIONS)]
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_repeating_a_word_does_not_help_and_length_is_penalized() -> None:
    reference = ["a", "red", "bus", "on", "the", "street"]
    others = [[["some", "dogs"]], [["the", "sea"]]]
    candidates = [reference, [*reference, "bus", "bus", "bus"], [*reference, *["x"] * 12]]
    found = whole("cider-d", Corpus.from_tokens([[reference], candidates, *others]))[0]
    assert found[0] == pytest.approx(10)
    assert found[1] > found[2] > found[3]

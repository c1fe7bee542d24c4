from __future__ import annotations

import numpy as np
import pytest
from caption_samples import CORPUS, IMAGES, Captions, few, image_captions, whole
from hypothesis import given
from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from pycocoevalcap.bleu.bleu_scorer import BleuScorer

from trope.spaces.captions import Corpus


def nltk_bleu(images: list[Captions]) -> np.ndarray:
    smooth = SmoothingFunction().method1
    captions = [tokens for references in images for tokens in references]
    return np.array(
        [[sentence_bleu(refs, c, smoothing_function=smooth) for c in captions] for refs in images]
    )


def coco_bleu(images: list[Captions]) -> np.ndarray:
    scorer = BleuScorer()
    captions = [" ".join(tokens) for references in images for tokens in references]
    for references in images:
        for caption in captions:
            scorer += (caption, [" ".join(tokens) for tokens in references])
    return np.array(scorer.compute_score(option="closest")[1][3]).reshape(len(images), -1)


def test_equals_nltk() -> None:
    assert whole("bleu", CORPUS) == pytest.approx(nltk_bleu(IMAGES), abs=1e-6)


def test_equals_the_coco_caption_code() -> None:
    assert whole("bleu-coco", CORPUS) == pytest.approx(coco_bleu(IMAGES), abs=1e-6)


@few
@given(image_captions)
def test_equal_on_any_captions(images: list[Captions]) -> None:
    corpus = Corpus.from_tokens(images)
    assert whole("bleu", corpus) == pytest.approx(nltk_bleu(images), abs=1e-6)
    assert whole("bleu-coco", corpus) == pytest.approx(coco_bleu(images), abs=1e-6)


def test_references_are_one_target_not_averaged() -> None:
    """Half of the caption from each reference: every word is found in one of them."""
    images = [[["a", "b", "c", "d"], ["e", "f", "g", "h"]], [["a", "b", "e", "f"]]]
    found = whole("bleu", Corpus.from_tokens(images))
    assert found[0, 2] == pytest.approx((1 * (2 / 3) * (0.1 / 2) * 0.1) ** 0.25)
    assert found[0, 0] == 1


def test_the_two_smoothings_differ_on_short_texts() -> None:
    corpus = Corpus.from_tokens([[["a", "dog"]], [["a", "cat"]]])
    assert whole("bleu", corpus)[0, 0] > 10 * whole("bleu-coco", corpus)[0, 1]

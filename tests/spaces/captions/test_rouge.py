from __future__ import annotations

import numpy as np
import pytest
from caption_samples import CORPUS, IMAGES, Captions, few, image_captions, whole
from hypothesis import given
from rouge_score.rouge_scorer import RougeScorer

from trope.spaces.captions import Corpus

KINDS = ["rouge1", "rouge2", "rougeL"]


class Split:
    """Tokens as they are, so that both sides see the same."""

    def tokenize(self, text: str) -> list[str]:
        return text.split()


def theirs(images: list[Captions]) -> np.ndarray:
    scorer = RougeScorer(KINDS, tokenizer=Split())
    captions = [" ".join(tokens) for references in images for tokens in references]
    found = np.empty((len(images), len(captions)))
    for i, references in enumerate(images):
        targets = [" ".join(tokens) for tokens in references]
        for j, caption in enumerate(captions):
            scores = scorer.score_multi(targets, caption)
            found[i, j] = np.mean([scores[kind].fmeasure for kind in KINDS])
    return found


def test_equals_rouge_score() -> None:
    assert whole("rouge", CORPUS) == pytest.approx(theirs(IMAGES), abs=1e-6)


@few
@given(image_captions)
def test_equals_rouge_score_on_any_captions(images: list[Captions]) -> None:
    corpus = Corpus.from_tokens(images)
    assert whole("rouge", corpus) == pytest.approx(theirs(images), abs=1e-6)


def test_the_order_of_words_matters() -> None:
    corpus = Corpus.from_texts([["the dog bites the man"], ["the man bites the dog"]])
    found = whole("rouge", corpus)
    assert found[0, 0] == 1 > found[0, 1] > 0.5

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from caption_samples import CAPTIONS, CORPUS, IMAGES, Captions, few, image_captions, whole
from hypothesis import given

from trope.spaces.captions import Corpus


def grams(tokens: list[str], n: int) -> Counter:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def cosine(one: dict, other: dict) -> float:
    norms = math.sqrt(sum(v * v for v in one.values()) * sum(v * v for v in other.values()))
    return sum(v * other.get(k, 0) for k, v in one.items()) / norms if norms else 0.0


def plain_cider(images: list[Captions], fitted_on: list[Captions]) -> np.ndarray:
    """The formula as it stands in the paper, pair by pair."""
    captions = [caption for references in images for caption in references]
    found = np.zeros((len(images), len(captions)))
    for n in range(1, 5):
        held = Counter(g for refs in fitted_on for g in set().union(*(grams(r, n) for r in refs)))
        documents = sum(1 for references in fitted_on if references)
        vectors = [
            {g: c * math.log(documents / max(1, held[g])) for g, c in grams(t, n).items()}
            for t in captions
        ]
        row = 0
        for i, references in enumerate(images):
            for r in range(row, row + len(references)):
                found[i] += [cosine(vectors[r], other) / len(references) for other in vectors]
            row += len(references)
    return found / 4


def test_cider_is_the_formula() -> None:
    assert whole("cider", CORPUS) == pytest.approx(plain_cider(IMAGES, IMAGES), abs=1e-6)


@few
@given(image_captions, image_captions)
def test_cider_fitted_on_another_corpus(images: list[Captions], other: list[Captions]) -> None:
    found = whole("cider", Corpus.from_tokens(images), Corpus.from_tokens(other))
    assert found == pytest.approx(plain_cider(images, other), abs=1e-6)


def test_images_without_captions_are_no_documents_and_score_nothing() -> None:
    without = whole("cider", Corpus.from_tokens(IMAGES))
    images = [IMAGES[0], [], *IMAGES[1:]]
    found = whole("cider", Corpus.from_tokens(images))
    assert not found[1].any()
    assert (np.delete(found, 1, axis=0) == without).all()
    assert found.shape[1] == len(CAPTIONS)

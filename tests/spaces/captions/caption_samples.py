"""Captions to measure: real-looking ones, random ones, and every odd kind."""

from __future__ import annotations

import numpy as np
from hypothesis import settings
from hypothesis import strategies as st

from trope.spaces.captions import Corpus, Relevance

Captions = list[list[str]]

KITCHEN = [
    "a woman cooks dinner in a small kitchen",
    "a person standing at a stove in a kitchen",
    "the cook stirs a pot on the stove",
]
BEACH = [
    "two dogs run along the beach",
    "two brown dogs playing in the sand near the water",
    "dogs chase a ball on the beach on a sunny day",
    "a dog and a dog and a dog",
]
STREET = ["a red bus drives down a city street", "a bus on a busy street in the city"]
REAL = [[text.split() for text in texts] for texts in (KITCHEN, BEACH, STREET)]

RANDOM = np.random.default_rng(5)
WORDS = np.array([f"w{i}" for i in range(60)])


def drawn(length: int, words: int = 60) -> list[str]:
    """Words of a caption of that length, few of them often."""
    return [str(word) for word in WORDS[(words * RANDOM.random(length) ** 2).astype(int)]]


ODD: list[Captions] = [
    [[], ["w1"]],
    [["w0"]],
    [["w3"] * 9, ["w3", "w3", "w4"]],
    [drawn(70), drawn(64), drawn(65)],
    [drawn(200, 20)],
    [["unique", "words", "only", "here"]],
    [[]],
]
RANDOM_ONES: list[Captions] = [
    [drawn(int(RANDOM.integers(1, 18))) for _ in range(RANDOM.integers(1, 6))] for _ in range(12)
]
IMAGES: list[Captions] = [*REAL, *RANDOM_ONES, *ODD]
CORPUS = Corpus.from_tokens(IMAGES)
CAPTIONS: Captions = [caption for references in IMAGES for caption in references]

word = st.sampled_from(list("abcde"))
caption = st.lists(word, max_size=9) | st.lists(word, min_size=60, max_size=70)
image_captions = st.lists(st.lists(caption, min_size=1, max_size=3), min_size=2, max_size=4)
few = settings(max_examples=20)


def whole(measure: str, corpus: Corpus, fitted_on: Corpus | None = None) -> np.ndarray:
    """The whole matrix of a measure."""
    matrix = Relevance(measure).fit(fitted_on or corpus).on(corpus)
    return matrix.rows(np.arange(corpus.image_count))

"""What the released code of DAA (2022) calls CIDEr: TF-IDF cosine of single words.

Its words are scikit-learn's: letters and digits, two at least, so that "a dog's" is "dog". Here
the marks of a script belong to its letters, and characters of scripts written without spaces, and
emoji, are words of their own: what the original would lose of other languages counts.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate, chain

import numpy as np
import regex

from trope.spaces.captions.corpus import Corpus
from trope.spaces.captions.idf import per_caption
from trope.spaces.captions.tfidf import Cosine, TfIdf

_PART = regex.compile(r"[\p{L}\p{M}\p{N}\u200c\u200d]+")


@dataclass(frozen=True, eq=False)
class CiderDaa:
    """DAA's measure with the given weights."""

    weights: TfIdf

    def on(self, corpus: Corpus) -> Cosine:
        """Unit vectors of the captions, and the mean of its references for each image."""
        return self.weights.on(as_released(corpus))


def cider_daa(corpus: Corpus) -> CiderDaa:
    """IDF over the captions of the corpus; words never seen do not count."""
    return CiderDaa(TfIdf(per_caption(as_released(corpus), 1)))


def as_released(corpus: Corpus) -> Corpus:
    """The corpus with each word replaced by those that DAA would see: one, several or none."""
    parts = [words_of(word) for word in corpus.words]
    numbers: dict[str, int] = {}
    flat = [numbers.setdefault(part, len(numbers)) for part in chain.from_iterable(parts)]
    first = np.array([0, *accumulate(map(len, parts))], np.int64)
    counts = np.diff(first)[corpus.tokens]
    before = np.concatenate([[0], np.cumsum(counts)])
    places = np.arange(before[-1]) + np.repeat(first[corpus.tokens] - before[:-1], counts)
    tokens = np.array(flat, np.int64)[places]
    return Corpus(tuple(numbers), tokens, before[corpus.starts], corpus.images)


def words_of(word: str) -> list[str]:
    """The words that DAA would see in one of ours."""
    parts = [str(part) for part in _PART.findall(word)]
    return [part for part in parts if len(part) > 1 or _stands_alone(part)] if parts else [word]


def _stands_alone(character: str) -> bool:
    """Whether it may be a word: neither a digit nor a letter of the scripts that have capitals."""
    return character.lower() == character.upper() and not character.isnumeric()

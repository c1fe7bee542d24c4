"""The captions of a set of images as numbers: built once, measured in many ways."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain

import numpy as np
from jaxtyping import Int

from trope.data.pairs import Pairs
from trope.data.text import TextPreparation, listed, prepare, tokenize
from trope.errors import UsageError

Tokens = Sequence[str]


@dataclass(frozen=True, eq=False)
class Corpus:
    """Captions one after the other as word numbers, and which captions belong to which image.

    Caption `j` is `tokens[starts[j]:starts[j + 1]]`; the references of image `i` are the captions
    `images[i]` to `images[i + 1]`, any number of them.
    """

    words: tuple[str, ...] = field(repr=False)
    tokens: Int[np.ndarray, " tokens"] = field(repr=False)
    starts: Int[np.ndarray, " captions_and_end"] = field(repr=False)
    images: Int[np.ndarray, " images_and_end"] = field(repr=False)

    def __post_init__(self) -> None:
        captions = len(self.starts) - 1
        if self.images[0] != 0 or self.images[-1] != captions or (np.diff(self.images) < 0).any():
            raise ValueError(f"the images do not divide the {captions} captions among them")

    @classmethod
    def from_tokens(cls, images: Iterable[Sequence[Tokens]]) -> Corpus:
        """From the captions of each image, split into words."""
        per_image = [listed(some, f"captions of image {i}") for i, some in enumerate(images)]
        captions = list(chain.from_iterable(per_image))
        return cls.from_captions(captions, [len(references) for references in per_image])

    @classmethod
    def from_captions(cls, captions: Sequence[Tokens], counts: Sequence[int]) -> Corpus:
        """From all captions, split into words, and how many of them each image has."""
        for i, caption in enumerate(captions):
            listed(caption, f"words of caption {i}")
        numbers: dict[str, int] = {}
        flat = chain.from_iterable(captions)
        tokens = np.fromiter((numbers.setdefault(w, len(numbers)) for w in flat), np.int64)
        return cls(tuple(numbers), tokens, _ends(map(len, captions)), _ends(counts))

    @classmethod
    def from_texts(
        cls, images: Iterable[Sequence[str]], settings: TextPreparation | None = None
    ) -> Corpus:
        """From the captions of each image as they were written, in any script."""
        settings = settings or TextPreparation()
        per_image = (listed(some, f"captions of image {i}") for i, some in enumerate(images))
        return cls.from_tokens([_words(text, settings) for text in some] for some in per_image)

    @classmethod
    def from_pairs(cls, pairs: Pairs, settings: TextPreparation | None = None) -> Corpus:
        """From a data set: one image a row, with all its texts; rows without a text have none."""
        return cls.from_texts(pairs.column("texts").to_pylist(), settings)

    @property
    def caption_count(self) -> int:
        """How many captions there are."""
        return len(self.starts) - 1

    @property
    def image_count(self) -> int:
        """How many images there are, with or without captions."""
        return len(self.images) - 1

    @cached_property
    def lengths(self) -> Int[np.ndarray, " captions"]:
        """How many words each caption has."""
        return np.diff(self.starts)

    @cached_property
    def reference_counts(self) -> Int[np.ndarray, " images"]:
        """How many captions each image has."""
        return np.diff(self.images)

    def references(
        self, rows: Int[np.ndarray, " rows"]
    ) -> tuple[Int[np.ndarray, " references"], Int[np.ndarray, " rows_and_end"]]:
        """The captions of some images one after the other, and where each image's begin."""
        counts = self.reference_counts[rows]
        ends = np.concatenate([[0], np.cumsum(counts)])
        shift = np.repeat(self.images[rows] - ends[:-1], counts)
        return np.arange(ends[-1]) + shift, ends

    def joined(self) -> Corpus:
        """One long caption for each image: all its references in a row."""
        ends = np.arange(self.image_count + 1)
        return Corpus(self.words, self.tokens, self.starts[self.images], ends)


def _words(text: str, settings: TextPreparation) -> list[str]:
    if not isinstance(text, str):
        raise UsageError(f"a caption is a text, found {text!r:.60} ({type(text).__name__})")
    return tokenize(prepare(text, settings))


def _ends(lengths: Iterable[int]) -> Int[np.ndarray, " ends"]:
    return np.array([0, *accumulate(lengths)], np.int64)

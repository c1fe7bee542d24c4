"""What a data set is made of: counts, lengths, words, and how the splits relate."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass

import numpy as np
import pyarrow.compute as pc
from jaxtyping import Int

from trope.data.identity import codes
from trope.data.pairs import Pairs
from trope.data.text import TextPreparation, prepare, tokenize
from trope.types import SPLITS


@dataclass(frozen=True)
class SplitStatistics:
    """One split: its size and its words as a vocabulary of the training split knows them."""

    rows: int
    images: int
    texts: int
    words_per_text: float
    words_per_text_sd: float
    unknown_words: float
    labels_per_row: float


@dataclass(frozen=True)
class Statistics:
    """A whole data set; the vocabulary is that of the training split alone."""

    rows: int
    images: int
    texts: int
    labels: int
    groups: int
    vocabulary: int
    min_count: int
    splits: dict[str, SplitStatistics]

    def document(self) -> dict[str, object]:
        """The statistics for programs."""
        return asdict(self)


def describe(
    pairs: Pairs, preparation: TextPreparation | None = None, min_count: int = 1
) -> Statistics:
    """Count everything in one pass; rows without a split are in the totals only."""
    parts = {name: part for name in SPLITS if len(part := pairs.in_split(name))}
    words = {name: _words(part, preparation or TextPreparation()) for name, part in parts.items()}
    counts = words["train"].counts if "train" in words else Counter[str]()
    vocabulary = {word for word, count in counts.items() if count >= min_count}
    return Statistics(
        rows=len(pairs),
        images=_distinct(pairs, "image"),
        texts=int(pairs.text_counts.sum()),
        labels=len(pc.list_flatten(pairs.column("labels")).unique()),
        groups=_distinct(pairs, "group"),
        vocabulary=len(vocabulary),
        min_count=min_count,
        splits={name: _split(part, words[name], vocabulary) for name, part in parts.items()},
    )


@dataclass(frozen=True)
class _Words:
    """How often each word occurs in a split, and how many words each text has."""

    counts: Counter[str]
    lengths: Int[np.ndarray, " texts"]

    def unknown(self, vocabulary: set[str]) -> float:
        """The share of words outside a vocabulary."""
        missed = sum(count for word, count in self.counts.items() if word not in vocabulary)
        return missed / max(1, self.counts.total())


def _words(pairs: Pairs, preparation: TextPreparation) -> _Words:
    counts, lengths = Counter[str](), []
    for chunk in pairs.flat_texts()[0].chunks:
        for text in chunk.to_pylist():
            words = tokenize(prepare(text, preparation))
            counts.update(words)
            lengths.append(len(words))
    return _Words(counts, np.array(lengths, np.int64))


def _distinct(pairs: Pairs, column: str) -> int:
    return int(codes(pairs.column(column)).max(initial=-1)) + 1


def _split(pairs: Pairs, words: _Words, vocabulary: set[str]) -> SplitStatistics:
    lengths = words.lengths if len(words.lengths) else np.zeros(1)
    labels = np.asarray(pc.list_value_length(pairs.column("labels")))
    return SplitStatistics(
        rows=len(pairs),
        images=_distinct(pairs, "image"),
        texts=len(words.lengths),
        words_per_text=float(lengths.mean()),
        words_per_text_sd=float(lengths.std()),
        unknown_words=words.unknown(vocabulary),
        labels_per_row=float(labels.mean()),
    )

"""What a data set is made of: counts, lengths, words, and how the splits relate."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
import pyarrow.compute as pc

from trope.data.components import codes
from trope.data.pairs import Pairs
from trope.data.text import TextPreparation, prepare, tokenize
from trope.data.vocabulary import Vocabulary
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
    """Count everything; rows without a split are in the totals only."""
    preparation = preparation or TextPreparation()
    words = {name: _words(pairs.in_split(name), preparation) for name in SPLITS}
    vocabulary = Vocabulary.build(words["train"], min_count=min_count)
    splits = {
        name: _split(pairs.in_split(name), words[name], vocabulary)
        for name in SPLITS
        if len(pairs.in_split(name))
    }
    return Statistics(
        rows=len(pairs),
        images=_distinct(pairs, "image"),
        texts=int(pairs.text_counts.sum()),
        labels=len(pc.list_flatten(pairs.column("labels")).unique()),
        groups=_distinct(pairs, "group"),
        vocabulary=len(vocabulary),
        min_count=min_count,
        splits=splits,
    )


def _words(pairs: Pairs, preparation: TextPreparation) -> list[list[str]]:
    texts, _ = pairs.flat_texts()
    return [tokenize(prepare(text, preparation)) for text in texts.to_pylist()]


def _distinct(pairs: Pairs, column: str) -> int:
    found = codes(pairs.column(column))
    return len(np.unique(found[found >= 0]))


def _split(pairs: Pairs, words: list[list[str]], vocabulary: Vocabulary) -> SplitStatistics:
    lengths = np.array([len(text) for text in words] or [0])
    labels = np.asarray(pc.list_value_length(pairs.column("labels")))
    return SplitStatistics(
        rows=len(pairs),
        images=_distinct(pairs, "image"),
        texts=len(words),
        words_per_text=float(lengths.mean()),
        words_per_text_sd=float(lengths.std()),
        unknown_words=vocabulary.unknown_share(words),
        labels_per_row=float(labels.mean()),
    )

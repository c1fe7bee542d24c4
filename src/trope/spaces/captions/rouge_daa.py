"""ROUGE as the released code of DAA (2022) has it: the `rouge` package on the joined references.

That package takes words and word pairs as sets: F1 = 2 |both| / (|a| + |b|), however often a text
has them, and pairs also stand across the seams of the references. For ROUGE-L, what is shared are
the words of the longest common subsequences of the caption with each reference, all together.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Int

from trope.compiled import compiled
from trope.spaces.captions.corpus import Corpus
from trope.spaces.captions.lcs import WORD
from trope.spaces.captions.ngrams import count
from trope.spaces.captions.postings import Rows
from trope.spaces.captions.scoring import Against, Block, filled
from trope.spaces.captions.subsequences import Table, common_words, common_words_of_long
from trope.spaces.captions.units import Entries, Units, part, shared


@dataclass(frozen=True)
class RougeDaa:
    """ROUGE of sets; learns nothing."""

    def on(self, corpus: Corpus) -> Common:
        """The sets of words and word pairs of captions and of images."""
        captions = count(corpus, 2)
        images = count(corpus.joined(), 2, captions.numbering)
        sets = [[Units.of_order(counts, n).once() for n in (0, 1)] for counts in (captions, images)]
        return Common(corpus, *sets)


def rouge_daa(corpus: Corpus) -> RougeDaa:
    """ROUGE of sets against the references in a row; learns nothing."""
    return RougeDaa()


@dataclass(frozen=True, eq=False)
class Common:
    """Captions and images as sets of words, and of word pairs."""

    corpus: Corpus
    captions: list[Units] = field(repr=False)
    images: list[Units] = field(repr=False)

    def against(self, captions: Rows) -> Against:
        """Prepare some captions; what comes back scores any images against them."""
        words, pairs = (units.postings(captions) for units in self.captions)
        held_words, held_pairs = self.captions[0].held(words), self.captions[1].held(pairs)
        sizes = [_sizes(units, captions) for units in self.captions]
        corpus = self.corpus
        texts = (corpus.tokens, corpus.starts, corpus.images)

        def score(rows: Rows) -> Block:
            word, pair = self.images[0].met(words, rows), self.images[1].met(pairs, rows)
            theirs = [_sizes(units, rows) for units in self.images]
            longest = int(corpus.lengths.max(initial=0))
            return filled(
                len(rows),
                len(captions),
                lambda first, last, out: common(
                    ((part(word, first, last), held_words), (part(pair, first, last), held_pairs)),
                    ((theirs[0][first:last], sizes[0]), (theirs[1][first:last], sizes[1])),
                    texts,
                    (rows[first:last], captions),
                    (len(corpus.words), longest),
                    out,
                ),
            )

        return score


def _sizes(units: Units, texts: Rows) -> Int[np.ndarray, " texts"]:
    """How many units each text has."""
    return np.asarray(np.diff(units.matrix.indptr)[texts], np.int64)


Both = tuple[Entries, Entries]
Sizes = tuple[np.ndarray, np.ndarray]


@compiled
def common(
    units: tuple[Both, Both],
    sizes: tuple[Sizes, Sizes],
    texts: tuple[np.ndarray, np.ndarray, np.ndarray],
    numbers: tuple[np.ndarray, np.ndarray],
    room: tuple[int, int],
    out: np.ndarray,
) -> None:
    """F1 of words, word pairs and words of common subsequences; the mean of the three."""
    (words, pairs), (rows, captions) = units, numbers
    found = np.empty((3, len(captions)), np.float32)
    bits = np.empty((2, room[1]), np.uint64)
    table = (bits[0], bits[1], np.empty(room[1], np.int64))
    masks, seen = np.zeros(room[0], np.uint64), np.full(room[0], -1)
    for i in range(out.shape[0]):
        shared(words[0], words[1], i, found[0])
        shared(pairs[0], pairs[1], i, found[1])
        mark = i * len(captions)  # an image may be asked for twice, a place is there once
        _in_subsequences(texts, rows[i], captions, (table, masks, seen), mark, found)
        for j in range(len(captions)):
            each = np.float32(max(sizes[0][0][i] + sizes[0][1][j], 1))
            fewer = np.float32(max(sizes[1][0][i] + sizes[1][1][j], 1))
            out[i, j] = 2 * ((found[0, j] + found[2, j]) / each + found[1, j] / fewer) / 3


@compiled
def _in_subsequences(
    texts: tuple[np.ndarray, np.ndarray, np.ndarray],
    row: int,
    captions: np.ndarray,
    room: tuple[Table, np.ndarray, np.ndarray],
    mark: int,
    found: np.ndarray,
) -> None:
    """From the shared words (first of `found`) to those in common subsequences (last)."""
    tokens, starts, images = texts
    table, masks, seen = room
    begin = starts[images[row]]
    text = tokens[begin : starts[images[row + 1]]]
    ends = starts[images[row] + 1 : images[row + 1] + 1] - begin
    for j in range(len(captions)):
        found[2, j] = found[0, j]
        caption = tokens[starts[captions[j]] : starts[captions[j] + 1]]
        if found[0, j] < 2:  # a single word is in every subsequence
            continue
        if len(caption) <= WORD:
            found[2, j] = common_words(caption, text, ends, table, masks)
        else:
            found[2, j] = common_words_of_long(caption, text, ends, masks, seen, mark + j)

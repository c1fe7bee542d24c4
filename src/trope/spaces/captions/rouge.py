"""ROUGE (Lin 2004): the mean of the F1 of ROUGE-1, ROUGE-2 and ROUGE-L.

With m matches (clipped counts of words or word pairs, or the longest common subsequence) between
texts of a and b units, F1 = 2m / (a + b). Of several references, each of the three takes the one
that fits best, as the rouge-score package does.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import UInt64
from scipy import sparse

from trope.compiled import compiled
from trope.spaces.captions.corpus import Corpus
from trope.spaces.captions.lcs import WORD, position_masks, strips, zeros_in
from trope.spaces.captions.ngrams import count
from trope.spaces.captions.postings import Rows, numbered
from trope.spaces.captions.scoring import Against, Block, filled
from trope.spaces.captions.units import Entries, Units, shared


@dataclass(frozen=True)
class Rouge:
    """ROUGE against the best of an image's references."""

    def on(self, corpus: Corpus) -> Overlap:
        """Count words and word pairs of the captions, and keep the words in their order."""
        counts = count(corpus, 2)
        shape = (corpus.caption_count, len(corpus.words))
        data = np.zeros(len(corpus.tokens), np.int8)
        spoken = sparse.csr_array((data, corpus.tokens, corpus.starts), shape=shape)
        words, pairs = (Units.of_order(counts, order) for order in (0, 1))
        return Overlap(corpus, words, pairs, Units(numbered(spoken), ()), position_masks(corpus))


def rouge(corpus: Corpus) -> Rouge:
    """ROUGE against the best of the references; learns nothing."""
    return Rouge()


@dataclass(frozen=True, eq=False)
class Overlap:
    """Captions as counted words, counted word pairs, and words in their order."""

    corpus: Corpus
    words: Units
    pairs: Units
    spoken: Units = field(repr=False)
    masks: UInt64[np.ndarray, " entries"] = field(repr=False)

    def against(self, captions: Rows) -> Against:
        """Prepare some captions; what comes back scores any images against them."""
        corpus = self.corpus
        words, pairs = (units.postings(captions) for units in (self.words, self.pairs))
        held_words, held_pairs = self.words.held(words), self.pairs.held(pairs)
        masks = self.masks[words.entries]
        lengths = corpus.lengths[captions]
        long = np.flatnonzero(lengths > WORD)
        texts = (corpus.tokens, corpus.starts[captions[long]], lengths[long])

        def score(rows: Rows) -> Block:
            references, groups = corpus.references(rows)
            spoken = self.spoken.met(words, references)
            word, pair = self.words.met(words, references), self.pairs.met(pairs, references)
            sizes = corpus.lengths[references]
            whole = (corpus.tokens, corpus.starts[references], sizes)
            return filled(
                len(rows),
                len(captions),
                lambda first, last, out: best_overlaps(
                    groups[first : last + 1],
                    (word, held_words),
                    (pair, held_pairs),
                    (*spoken, masks),
                    (sizes, lengths),
                    (whole, texts, long, len(corpus.words)),
                    out,
                ),
            )

        return score


Texts = tuple[np.ndarray, np.ndarray, np.ndarray]


@compiled
def best_overlaps(
    groups: np.ndarray,
    words: tuple[Entries, Entries],
    pairs: tuple[Entries, Entries],
    spoken: Entries,
    sizes: tuple[np.ndarray, np.ndarray],
    long: tuple[Texts, Texts, np.ndarray, int],
    out: np.ndarray,
) -> None:
    """The best of each kind over an image's references, then the mean of the three."""
    captions = out.shape[1]
    best = np.empty((3, captions), np.float32)
    found = np.empty((3, captions), np.float32)
    bits = np.empty(captions, np.uint64)
    table = np.zeros(long[3] if len(long[2]) else 0, np.uint64)
    for i in range(out.shape[0]):
        best.fill(0)
        for r in range(groups[i], groups[i + 1]):
            shared(words[0], words[1], r, found[0])
            shared(pairs[0], pairs[1], r, found[1])
            _common(spoken, words[1], r, bits, found[2])
            _common_of_long(long, r, table, found[2])
            _keep_best(found, sizes[0][r], sizes[1], best)
        for j in range(captions):
            out[i, j] = (best[0, j] + best[1, j] + best[2, j]) / np.float32(3)


@compiled
def _common(
    spoken: Entries, captions: Entries, r: int, bits: np.ndarray, found: np.ndarray
) -> None:
    """The common length of a reference, word by word, with every caption of one machine word."""
    starts, slots, masks = spoken
    posting_starts, posting_rows, _ = captions
    bits.fill(~np.uint64(0))
    for entry in range(starts[r], starts[r + 1]):
        slot = slots[entry]
        for place in range(posting_starts[slot], posting_starts[slot + 1]):
            row = posting_rows[place]
            held = bits[row] & masks[place]
            bits[row] = (bits[row] + held) | (bits[row] - held)
    for j in range(len(bits)):
        found[j] = zeros_in(bits[j])


@compiled
def _common_of_long(
    long: tuple[Texts, Texts, np.ndarray, int], r: int, table: np.ndarray, found: np.ndarray
) -> None:
    """The common length of a reference with each caption too long for one machine word."""
    (tokens, starts, sizes), (caption_tokens, caption_starts, caption_sizes), rows, _ = long
    reference = tokens[starts[r] : starts[r] + sizes[r]]
    for k in range(len(rows)):
        caption = caption_tokens[caption_starts[k] : caption_starts[k] + caption_sizes[k]]
        found[rows[k]] = strips(caption, reference, table)


@compiled
def _keep_best(found: np.ndarray, size: int, sizes: np.ndarray, best: np.ndarray) -> None:
    """F1 of words, word pairs and subsequences, where it is better than before."""
    for j in range(len(sizes)):
        units = np.float32(max(size + sizes[j], 1))
        fewer = np.float32(max(max(size - 1, 0) + max(sizes[j] - 1, 0), 1))
        best[0, j] = max(best[0, j], 2 * found[0, j] / units)
        best[1, j] = max(best[1, j], 2 * found[1, j] / fewer)
        best[2, j] = max(best[2, j], 2 * found[2, j] / units)

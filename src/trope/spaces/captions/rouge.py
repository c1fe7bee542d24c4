"""ROUGE (Lin 2004): the mean of the F1 of ROUGE-1, ROUGE-2 and ROUGE-L.

With m matches (clipped counts of words or word pairs, or the longest common subsequence) between
texts of a and b units, F1 = 2m / (a + b). Of several references, each of the three takes the one
that fits best, as the rouge-score package does. `rouge-joined` makes one text of them, as DAA does.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float32, UInt64
from scipy import sparse

from trope.spaces.captions.compiled import compiled, spread
from trope.spaces.captions.corpus import Corpus
from trope.spaces.captions.lcs import WORD, position_masks, strips, zeros_in
from trope.spaces.captions.ngrams import Counts, Numbering, count
from trope.spaces.captions.postings import Joined, Postings, Rows, numbered
from trope.spaces.captions.scoring import Against, Block


@dataclass(frozen=True)
class Rouge:
    """ROUGE against the best of an image's references, or with `joined` all of them in a row."""

    joined: bool = False

    def on(self, corpus: Corpus) -> Overlap:
        """Count words and word pairs of the captions and of what they are compared with."""
        captions = Counted.of(corpus)
        references = Counted.of(corpus.joined(), captions.numbering) if self.joined else captions
        return Overlap(references, captions, position_masks(corpus))


def rouge(corpus: Corpus) -> Rouge:
    """ROUGE against the best of the references; learns nothing."""
    return Rouge()


def rouge_joined(corpus: Corpus) -> Rouge:
    """ROUGE against the references in a row; learns nothing."""
    return Rouge(joined=True)


@dataclass(frozen=True, eq=False)
class Units:
    """Entries of sparse counts, and the counts themselves."""

    matrix: sparse.csr_array = field(repr=False)
    counts: Float32[np.ndarray, " entries"] = field(repr=False)

    @classmethod
    def of(cls, counts: Counts, order: int) -> Units:
        """The n-grams of one order, under their own numbers."""
        columns = counts.matrix[:, counts.bounds[order] : counts.bounds[order + 1]]
        return cls(numbered(columns), columns.data)


@dataclass(frozen=True, eq=False)
class Counted:
    """A corpus as counted words, counted word pairs, and words in their order."""

    corpus: Corpus
    words: Units
    pairs: Units
    sequence: sparse.csr_array = field(repr=False)
    numbering: Numbering = field(repr=False)

    @classmethod
    def of(cls, corpus: Corpus, known: Numbering | None = None) -> Counted:
        """Count a corpus; n-grams that are known keep their numbers."""
        counts = count(corpus, 2, known)
        words, pairs = Units.of(counts, 0), Units.of(counts, 1)
        shape = (corpus.caption_count, len(corpus.words))
        data = np.zeros(len(corpus.tokens), np.int8)
        sequence = sparse.csr_array((data, corpus.tokens, corpus.starts), shape=shape)
        return cls(corpus, words, pairs, numbered(sequence), counts.numbering)


@dataclass(frozen=True, eq=False)
class Overlap:
    """Captions, and the texts of the images they are compared with."""

    references: Counted
    captions: Counted
    masks: UInt64[np.ndarray, " entries"] = field(repr=False)

    def against(self, captions: Rows) -> Against:
        """Prepare some captions; what comes back scores any images against them."""
        ours, theirs = self.captions, self.references
        words, pairs = (Postings.of(u.matrix[captions]) for u in (ours.words, ours.pairs))
        held_words = (words.starts, words.rows, ours.words.counts[words.entries])
        held_pairs = (pairs.starts, pairs.rows, ours.pairs.counts[pairs.entries])
        masks = self.masks[words.entries]
        lengths = ours.corpus.lengths[captions]
        long = np.flatnonzero(lengths > WORD)
        texts = (ours.corpus.tokens, ours.corpus.starts[captions[long]], lengths[long])

        def score(rows: Rows) -> Block:
            references, groups = theirs.corpus.references(rows)
            spoken = words.join(theirs.sequence[references])
            word = _entries(theirs.words, words, references)
            pair = _entries(theirs.pairs, pairs, references)
            sizes = theirs.corpus.lengths[references]
            whole = (theirs.corpus.tokens, theirs.corpus.starts[references], sizes)
            out = np.empty((len(rows), len(captions)), np.float32)
            spread(
                len(rows),
                lambda first, last: best_overlaps(
                    groups[first : last + 1],
                    (word, held_words),
                    (pair, held_pairs),
                    (spoken.starts, spoken.slots, masks),
                    (sizes, lengths),
                    (whole, texts, long, len(ours.corpus.words)),
                    out[first:last],
                ),
            )
            return out

        return score


Entries = tuple[np.ndarray, np.ndarray, np.ndarray]
Texts = tuple[np.ndarray, np.ndarray, np.ndarray]


def _entries(units: Units, postings: Postings, references: Rows) -> Entries:
    joined: Joined = postings.join(units.matrix[references])
    return joined.starts, joined.slots, units.counts[joined.entries]


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
            _shared(words[0], words[1], r, found[0])
            _shared(pairs[0], pairs[1], r, found[1])
            _common(spoken, words[1], r, bits, found[2])
            _common_of_long(long, r, table, found[2])
            _keep_best(found, sizes[0][r], sizes[1], best)
        for j in range(captions):
            out[i, j] = (best[0, j] + best[1, j] + best[2, j]) / np.float32(3)


@compiled
def _shared(reference: Entries, captions: Entries, r: int, found: np.ndarray) -> None:
    """How many units a reference shares with each caption, each as often as both have it."""
    starts, slots, counts = reference
    posting_starts, posting_rows, caption_counts = captions
    found.fill(0)
    for entry in range(starts[r], starts[r + 1]):
        slot, most = slots[entry], counts[entry]
        for place in range(posting_starts[slot], posting_starts[slot + 1]):
            found[posting_rows[place]] += min(most, caption_counts[place])


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

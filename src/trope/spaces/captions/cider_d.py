"""CIDEr-D (Vedantam et al. 2015, sec. 6): CIDEr with clipped counts and a penalty on length.

For one reference r and caption c, summed over n-grams w of n words, with g = tf · idf:
    sim_n = exp(-(l_c - l_r)² / 2s²) · Σ_w min(g_c(w), g_r(w)) · g_r(w) / (|g_c| |g_r|)
The score is ten times the mean over n = 1..4 and the references. As in the coco-caption code, s = 6
and the length l is the number of word pairs.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float

from trope.compiled import compiled
from trope.spaces.captions.corpus import Corpus
from trope.spaces.captions.idf import Idf, per_image
from trope.spaces.captions.ngrams import LONGEST, Counts
from trope.spaces.captions.postings import Rows
from trope.spaces.captions.scoring import Against, Block, filled
from trope.spaces.captions.units import Entries, Units

SIGMA = 6.0
SCALE = 10.0
# Beyond this difference in length the penalty is zero in double precision.
FARTHEST = 255


@dataclass(frozen=True, eq=False)
class CiderD:
    """CIDEr-D with the given weights."""

    idf: Idf

    def on(self, corpus: Corpus) -> Clipped:
        """Count the corpus; an n-gram's weight as part of a reference, and as part of a caption."""
        counts = self.idf.count(corpus)
        idf = self.idf.columns(counts)[counts.matrix.indices]
        inverse = _inverse_norms(counts, idf)
        weights = idf**2 * counts.matrix.data * inverse / len(self.idf.weights)
        sides = (Units.of(counts.matrix, side.astype(np.float32)) for side in (weights, inverse))
        return Clipped(corpus, *sides)


def cider_d(corpus: Corpus) -> CiderD:
    """CIDEr-D with IDF over the images of the corpus."""
    return CiderD(per_image(corpus, LONGEST))


def _inverse_norms(
    counts: Counts, idf: Float[np.ndarray, " entries"]
) -> Float[np.ndarray, " entries"]:
    """One over the length of the caption's vector of that order, for each entry; 0 for none."""
    norms = np.sqrt(counts.per_order((counts.matrix.data * idf) ** 2))
    inverse: Float[np.ndarray, "captions orders"] = np.zeros_like(norms)
    np.divide(1, norms, out=inverse, where=norms > 0)
    each: Float[np.ndarray, " entries"] = inverse[counts.rows(), counts.orders()]
    return each


@dataclass(frozen=True, eq=False)
class Clipped:
    """Counted captions; those of an image are compared one by one, as each has its length.

    Beside its count, an n-gram has a weight as part of a reference and one as part of a caption.
    """

    corpus: Corpus
    references: Units = field(repr=False)
    captions: Units = field(repr=False)

    def against(self, captions: Rows) -> Against:
        """Prepare some captions; what comes back scores any images against them."""
        postings = self.captions.postings(captions)
        pairs = np.maximum(self.corpus.lengths - 1, 0)
        held = (*self.captions.held(postings), pairs[captions])
        penalties = np.exp(-(np.arange(FARTHEST + 1.0) ** 2) / (2 * SIGMA**2))

        def score(rows: Rows) -> Block:
            references, groups = self.corpus.references(rows)
            met = (*self.references.met(postings, references), pairs[references])
            return filled(
                len(rows),
                len(captions),
                lambda first, last, out: clipped_products(
                    groups[first : last + 1], met, held, penalties, out
                ),
            )

        return score


@compiled
def clipped_products(
    groups: np.ndarray,
    references: Entries,
    captions: Entries,
    penalties: np.ndarray,
    out: np.ndarray,
) -> None:
    """Clipped sums for each reference, times the penalty, averaged over an image's references."""
    starts, slots, counts, weights, lengths = references
    posting_starts, posting_rows, caption_counts, caption_weights, caption_lengths = captions
    farthest = len(penalties) - 1
    sums, total = np.empty(out.shape[1]), np.empty(out.shape[1])
    for i in range(out.shape[0]):
        total.fill(0)
        for r in range(groups[i], groups[i + 1]):
            sums.fill(0)
            for entry in range(starts[r], starts[r + 1]):
                slot, most, weight = slots[entry], counts[entry], np.float64(weights[entry])
                for place in range(posting_starts[slot], posting_starts[slot + 1]):
                    shared = min(most, caption_counts[place])
                    sums[posting_rows[place]] += weight * shared * caption_weights[place]
            for j in range(out.shape[1]):
                distance = min(abs(lengths[r] - caption_lengths[j]), farthest)
                total[j] += sums[j] * penalties[distance]
        scale = SCALE / max(1, groups[i + 1] - groups[i])
        for j in range(out.shape[1]):
            out[i, j] = total[j] * scale

"""BLEU-4 of a caption against all references of an image at once (Papineni et al. 2002).

p_n is the share of the caption's n-grams found in a reference, each counted at most as often as in
the reference that has it most; BLEU = brevity · (p_1 p_2 p_3 p_4)^¼ with the length of the
reference closest to the caption's. Two ways with p_n = 0, which is common in short texts: NLTK's
smoothing method 1 counts 0.1 matches (as DAA does), the coco-caption code 10⁻¹⁵.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Int
from scipy import sparse

from trope.compiled import compiled
from trope.spaces.captions.corpus import Corpus
from trope.spaces.captions.ngrams import LONGEST, Counts, count, order_of
from trope.spaces.captions.postings import Rows
from trope.spaces.captions.scoring import Against, Block, filled
from trope.spaces.captions.units import Entries, Units, part

NLTK_EPSILON = 0.1
COCO_TINY, COCO_SMALL = 1e-15, 1e-9


@dataclass(frozen=True)
class Bleu:
    """BLEU-4, smoothed as NLTK's method 1 or, with `coco`, as the coco-caption code."""

    coco: bool = False

    def on(self, corpus: Corpus) -> Precision:
        """Count the captions; for each image, the most a reference has of each n-gram."""
        counts = count(corpus)
        images = Units.of(_most_of_references(corpus, counts))
        return Precision(corpus, Units.of(counts.matrix), images, counts.bounds, self.coco)


def bleu(corpus: Corpus) -> Bleu:
    """BLEU as NLTK computes it for one sentence with smoothing method 1; learns nothing."""
    return Bleu()


def bleu_coco(corpus: Corpus) -> Bleu:
    """BLEU as the coco-caption code computes it for one sentence; learns nothing."""
    return Bleu(coco=True)


def _most_of_references(corpus: Corpus, counts: Counts) -> sparse.csr_array:
    """The largest count of each n-gram among the references of each image."""
    matrix, width = counts.matrix, counts.matrix.shape[1]
    image = np.repeat(np.arange(corpus.image_count), corpus.reference_counts)[counts.rows()]
    keys = image * max(1, width) + matrix.indices
    order = np.argsort(keys, kind="stable")
    cells, first = np.unique(keys[order], return_index=True)
    most = np.maximum.reduceat(matrix.data[order], first) if len(first) else matrix.data
    where = (cells // max(1, width), cells % max(1, width))
    return sparse.csr_array((most, where), shape=(corpus.image_count, width))


@dataclass(frozen=True, eq=False)
class Precision:
    """Counted captions and images."""

    corpus: Corpus
    captions: Units = field(repr=False)
    images: Units = field(repr=False)
    bounds: Int[np.ndarray, " orders_and_end"]
    coco: bool

    def against(self, captions: Rows) -> Against:
        """Prepare some captions; what comes back scores any images against them."""
        postings = self.captions.postings(captions)
        held = (*self.captions.held(postings), order_of(postings.columns, self.bounds))
        sizes = self.corpus.lengths
        lengths, length = np.unique(sizes[captions], return_inverse=True)

        def score(rows: Rows) -> Block:
            references, groups = self.corpus.references(rows)
            met = self.images.met(postings, rows)
            return filled(
                len(rows),
                len(captions),
                lambda first, last, out: precisions(
                    part(met, first, last),
                    held,
                    (groups[first : last + 1], sizes[references]),
                    (lengths, length),
                    self.coco,
                    out,
                ),
            )

        return score


@compiled
def precisions(
    image: Entries,
    postings: Entries,
    references: tuple[np.ndarray, np.ndarray],
    captions: tuple[np.ndarray, np.ndarray],
    coco: bool,
    out: np.ndarray,
) -> None:
    """Clipped matches of each order, then the score of every pair."""
    starts, slots, most = image
    posting_starts, posting_rows, held, order = postings
    groups, sizes = references
    lengths, length = captions
    inverse = _inverse_totals(lengths, coco)
    found = np.empty((LONGEST, out.shape[1]), np.float32)
    for i in range(out.shape[0]):
        found.fill(0)
        for entry in range(starts[i], starts[i + 1]):
            slot, limit = slots[entry], most[entry]
            into = found[order[slot]]
            for place in range(posting_starts[slot], posting_starts[slot + 1]):
                into[posting_rows[place]] += min(limit, held[place])
        brevity = _brevity(lengths, sizes[groups[i] : groups[i + 1]], coco)
        for j in range(out.shape[1]):
            scale = brevity[length[j]] * inverse[length[j]]
            out[i, j] = _score(found, j, coco) * scale


@compiled
def _score(found: np.ndarray, j: int, coco: bool) -> float:
    """The fourth root of the product of the matches, smoothed where there are none."""
    if found[0, j] == 0 and not coco:
        return 0.0
    product = 1.0
    for n in range(LONGEST):
        matches = np.float64(found[n, j])
        product *= matches + COCO_TINY if coco else (matches if matches > 0 else NLTK_EPSILON)
    return float(np.sqrt(np.sqrt(product)))


@compiled
def _inverse_totals(lengths: np.ndarray, coco: bool) -> np.ndarray:
    """One over the fourth root of the product of the numbers of n-grams, for each length."""
    inverse = np.ones(len(lengths))
    for k in range(len(lengths)):
        for n in range(LONGEST):
            total = lengths[k] - n
            inverse[k] /= max(total, 0) + COCO_SMALL if coco else max(total, 1)
        inverse[k] = np.sqrt(np.sqrt(inverse[k]))
    return inverse


@compiled
def _brevity(lengths: np.ndarray, sizes: np.ndarray, coco: bool) -> np.ndarray:
    """The penalty of a caption shorter than the reference closest in length, for each length."""
    penalty = np.zeros(len(lengths))
    for k in range(len(lengths)):
        closest = np.int64(-1)
        for size in sizes:
            near, best = abs(size - lengths[k]), abs(closest - lengths[k])
            if closest < 0 or near < best or (near == best and size < closest):
                closest = size
        if closest < 0:
            continue
        if coco:
            ratio = (lengths[k] + COCO_TINY) / (closest + COCO_SMALL)
            penalty[k] = np.exp(1 - 1 / ratio) if ratio < 1 else 1.0
        elif lengths[k] > 0:
            penalty[k] = np.exp(min(0.0, 1 - closest / lengths[k]))
    return penalty

"""CIDEr (Vedantam et al. 2015, eq. 2-3): TF-IDF cosine with the references of an image, averaged.

The mean over n = 1..4 and over the references of the cosine of TF-IDF n-gram vectors. It is linear
in the unit vector of a reference: an image is the mean of its references', and the whole matrix one
sparse product.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from scipy import sparse

from trope.spaces.captions.corpus import Corpus
from trope.spaces.captions.idf import Idf, per_image
from trope.spaces.captions.ngrams import LONGEST, Counts
from trope.spaces.captions.postings import Rows
from trope.spaces.captions.products import Csr, by_column, csr, products
from trope.spaces.captions.scoring import Against, Block, filled


@dataclass(frozen=True, eq=False)
class TfIdf:
    """The mean cosine with the given weights, of as many orders as there are weights for."""

    idf: Idf

    def on(self, corpus: Corpus) -> Cosine:
        """Unit vectors of the captions, and the mean of its references for each image."""
        counts = self.idf.count(corpus)
        captions = unit_vectors(counts, self.idf.columns(counts))
        images = _mean_of_references(corpus, captions) * np.float32(1 / len(self.idf.weights))
        return Cosine(csr(captions), csr(images))


def cider(corpus: Corpus) -> TfIdf:
    """CIDEr with n-grams of one to four words, IDF over the images of the corpus."""
    return TfIdf(per_image(corpus, LONGEST))


def unit_vectors(counts: Counts, idf: np.ndarray) -> sparse.csr_array:
    """TF-IDF with unit length in each order; entries without weight are gone."""
    weighted = counts.matrix.data * idf[counts.matrix.indices]
    norms = np.sqrt(counts.per_order(weighted**2))
    norms[norms == 0] = 1
    values = (weighted / norms[counts.rows(), counts.orders()]).astype(np.float32)
    found = sparse.csr_array(
        (values, counts.matrix.indices, counts.matrix.indptr), shape=counts.matrix.shape, copy=True
    )
    found.eliminate_zeros()
    return found


def _mean_of_references(corpus: Corpus, captions: sparse.csr_array) -> sparse.csr_array:
    counts = corpus.reference_counts
    shares = np.repeat(1 / np.maximum(1, counts), counts).astype(np.float32)
    columns = np.arange(corpus.caption_count)
    shape = (corpus.image_count, corpus.caption_count)
    return sparse.csr_array((shares, columns, corpus.images), shape=shape) @ captions


@dataclass(frozen=True, eq=False)
class Cosine:
    """Images and captions as sparse rows; the score is their product."""

    captions: Csr = field(repr=False)
    images: Csr = field(repr=False)

    def against(self, captions: Rows) -> Against:
        """Prepare some captions; what comes back scores any images against them."""
        held = by_column(self.captions, captions)

        def score(rows: Rows) -> Block:
            return filled(
                len(rows),
                len(captions),
                lambda first, last, out: products(self.images, rows[first:last], held, out),
            )

        return score

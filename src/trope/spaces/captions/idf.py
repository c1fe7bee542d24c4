"""How rare n-grams are: document frequencies of one corpus, applied to the n-grams of any."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from jaxtyping import Float
from scipy import sparse

from trope.errors import DataError
from trope.spaces.captions.corpus import Corpus
from trope.spaces.captions.ngrams import Counts, Numbering, Numbers, count

PerOrder = tuple[Float[np.ndarray, " _"], ...]


@dataclass(frozen=True, eq=False)
class Idf:
    """A weight for each known n-gram, and one for all n-grams that were never seen."""

    numbering: Numbering = field(repr=False)
    weights: PerOrder = field(repr=False)
    unseen: float

    def count(self, corpus: Corpus) -> Counts:
        """The n-grams of a corpus, numbered so that the weights apply."""
        return count(corpus, len(self.weights), self.numbering)

    def columns(self, counts: Counts) -> Float[np.ndarray, " columns"]:
        """The weight of each column of counts made here."""
        new = np.diff(counts.bounds) - [len(known) for known in self.weights]
        parts = (
            np.append(known, np.full(more, self.unseen))
            for known, more in zip(self.weights, new, strict=True)
        )
        return np.concatenate(list(parts))


def per_image(corpus: Corpus, longest: int) -> Idf:
    """CIDEr's: log(images / images with the n-gram in a reference); unseen counts as seen once."""
    counts = _counted(corpus, longest)
    image = np.repeat(np.arange(corpus.image_count), corpus.reference_counts)
    # Images without a caption are no documents.
    documents = max(1, int(np.count_nonzero(corpus.reference_counts)))
    weights = np.log(documents / np.maximum(1, _frequencies(counts, image)))
    return Idf(counts.numbering, _by_order(weights, counts), float(np.log(documents)))


def per_caption(corpus: Corpus, longest: int) -> Idf:
    """scikit-learn's: log((1 + captions) / (1 + captions with it)) + 1; unseen does not count."""
    counts = _counted(corpus, longest)
    frequencies = _frequencies(counts, np.arange(corpus.caption_count))
    weights = np.log((1 + corpus.caption_count) / (1 + frequencies)) + 1
    return Idf(counts.numbering, _by_order(weights, counts), 0.0)


def _counted(corpus: Corpus, longest: int) -> Counts:
    """The n-grams of a corpus to learn from; without captions every score would be 0."""
    if not corpus.caption_count:
        raise DataError(
            f"nothing to learn how rare words are from: {corpus.image_count:,} images, no caption"
        )
    return count(corpus, longest)


def _frequencies(counts: Counts, document: Numbers) -> Numbers:
    """In how many documents each column occurs, given the document of each caption."""
    shape = (int(document.max(initial=-1)) + 1, counts.matrix.shape[1])
    cells = (document[counts.rows()], counts.matrix.indices)
    held = sparse.csr_array((np.ones(counts.matrix.nnz, np.int8), cells), shape=shape)
    return np.bincount(held.indices, minlength=shape[1])


def _by_order(weights: Float[np.ndarray, " columns"], counts: Counts) -> PerOrder:
    return tuple(np.split(weights, counts.bounds[1:-1]))

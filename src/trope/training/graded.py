"""How relevant the texts of a batch are for its images, by what captions say: DAA's matrix M.

Nothing is computed but the block of a batch, from sparse rows. Words are weighted by how rare they
are in the training texts, also for pairs of validation.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import torch
from jaxtyping import Float, Int
from torch import Tensor

from trope.data.pairs import Pairs
from trope.data.samples import Numbers, Samples
from trope.data.text import TextPreparation, prepare, tokenize
from trope.spaces.captions import Corpus, Fitted, Matrix, Relevance


@dataclass(frozen=True, eq=False)
class Graded:
    """The captions of the images of some samples; which image and which caption each sample is."""

    matrix: Matrix = field(repr=False)
    images: Numbers
    captions: Numbers

    def block(self, rows: Int[np.ndarray, " rows"]) -> Float[Tensor, "rows rows"]:
        """The relevance of each sample's text for each sample's image, images in rows."""
        return torch.from_numpy(self.matrix.block(self.images[rows], self.captions[rows]))


def graded(
    pairs: Pairs, measure: str, preparation: TextPreparation, train: Samples, val: Samples
) -> tuple[Graded, Graded]:
    """The relevance of training pairs and of validation pairs, both fitted on the first."""
    learned = _corpus(pairs, preparation, train)
    fitted = Relevance(measure).fit(learned)
    return _graded(fitted, learned, train), _graded(fitted, _corpus(pairs, preparation, val), val)


def _corpus(pairs: Pairs, preparation: TextPreparation, samples: Samples) -> Corpus:
    """The references of an image are its texts in the split, one or several, whatever the rows."""
    order = np.argsort(samples.images, kind="stable")
    texts = pairs.flat_texts()[0].take(samples.texts[order]).to_pylist()
    words = [tokenize(prepare(text, preparation)) for text in texts]
    counts = np.unique(samples.images, return_counts=True)[1]
    return Corpus.from_captions(words, counts.tolist())


def _graded(fitted: Fitted, corpus: Corpus, samples: Samples) -> Graded:
    captions = np.empty(len(samples), np.int64)
    captions[np.argsort(samples.images, kind="stable")] = np.arange(len(samples))
    images = np.unique(samples.images, return_inverse=True)[1]
    return Graded(fitted.on(corpus), images, captions)

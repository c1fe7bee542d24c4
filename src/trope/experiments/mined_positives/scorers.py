"""Measures by which positives are mined, behind one door: images, or captions, against captions.

No score is negative, larger means more alike, and equal scores stay equal.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Float32, Int
from scipy import sparse

from trope.data.text import TextPreparation, prepare, tokenize
from trope.errors import UsageError, suggestion
from trope.experiments.crisscrossed import Crisscrossed
from trope.features.sentences import sentence_encoder
from trope.spaces import Sentence
from trope.spaces.captions import MEASURES, Corpus, Fitted, Matrix, Relevance

Rows = Int[np.ndarray, " _"]
Block = Float32[np.ndarray, "queries captions"]
Scores = Float32[np.ndarray, " _"]

LABELS = "labels"
SENTENCE = "sentence"
DIAGONAL = 64  # captions whose own scores are read from one square block


@runtime_checkable
class Scorer(Protocol):
    """A measure that knows the data."""

    def images(self, rows: Rows) -> Block:
        """Some images, by their captions or labels, against all captions."""
        ...

    def captions(self, rows: Rows) -> Block:
        """Some captions against all captions."""
        ...

    def left_out(self, rows: Rows) -> Scores:
        """Some captions against their own image, as if they were not among its captions."""
        ...


@dataclass(frozen=True, eq=False)
class Corpora:
    """The captions as references of their images, each alone, and each with its siblings alone."""

    data: Crisscrossed = field(repr=False)

    @cached_property
    def tokens(self) -> list[list[str]]:
        """The words of every caption."""
        texts = self.data.pairs.flat_texts()[0].to_pylist()
        return [tokenize(prepare(text, TextPreparation())) for text in texts]

    @cached_property
    def by_image(self) -> Corpus:
        """All captions of an image are its references."""
        return Corpus.from_captions(self.tokens, self.data.pairs.text_counts.tolist())

    @cached_property
    def alone(self) -> Corpus:
        """Every caption is an image of its own."""
        return Corpus.from_captions(self.tokens, [1] * len(self.tokens))

    @cached_property
    def left_out(self) -> Corpus:
        """For every caption an image with its siblings; then all captions, each alone."""
        owners, count = self.data.owners, len(self.tokens)
        siblings, ends = self.by_image.references(owners)
        siblings = siblings[siblings != np.repeat(np.arange(count), np.diff(ends))]
        captions = [self.tokens[i] for i in siblings] + self.tokens
        return Corpus.from_captions(captions, [*(np.diff(ends) - 1).tolist(), *[1] * count])


@dataclass(frozen=True, eq=False)
class CaptionScores:
    """CIDEr, BLEU, ROUGE and the like; how rare words are is learned from all images."""

    measure: str
    corpora: Corpora = field(repr=False)

    def images(self, rows: Rows) -> Block:
        """Some images against all captions."""
        return self._by_image.rows(rows)

    def captions(self, rows: Rows) -> Block:
        """Some captions against all captions."""
        return self._alone.rows(rows)

    def left_out(self, rows: Rows) -> Scores:
        """Some captions against the other captions of their image."""
        corpus = self.corpora.left_out
        matrix = self._fitted.on(corpus)
        first = corpus.caption_count - len(self.corpora.tokens)
        scores = np.zeros(len(rows), np.float32)
        for i in range(0, len(rows), DIAGONAL):
            part = rows[i : i + DIAGONAL]
            scores[i : i + DIAGONAL] = matrix.block(part, first + part).diagonal()
        return scores

    @cached_property
    def _fitted(self) -> Fitted:
        return Relevance(self.measure).fit(self.corpora.by_image)

    @cached_property
    def _by_image(self) -> Matrix:
        return self._fitted.on(self.corpora.by_image)

    @cached_property
    def _alone(self) -> Matrix:
        return self._fitted.on(self.corpora.alone)


@dataclass(frozen=True, eq=False)
class SentenceScores:
    """Cosines of sentence vectors, from 0 (opposite) to 2; an image is the mean of its captions."""

    vectors: Float32[np.ndarray, "captions d"] = field(repr=False)
    owners: Rows = field(repr=False)
    count: int  # of images, with or without captions

    def images(self, rows: Rows) -> Block:
        """The mean cosine of an image's captions with every caption."""
        return _raised(self._means[rows] @ self._unit.T)

    def captions(self, rows: Rows) -> Block:
        """The cosine of some captions with every caption."""
        return _raised(self._unit[rows] @ self._unit.T)

    def left_out(self, rows: Rows) -> Scores:
        """The mean cosine of some captions with the others of their image."""
        counts = self._sizes[self.owners[rows]]
        own = self._unit[rows]
        others = self._means[self.owners[rows]] * counts[:, None] - own
        return _raised((others * own).sum(axis=1) / np.maximum(counts - 1, 1))

    @cached_property
    def _unit(self) -> Float32[np.ndarray, "captions d"]:
        lengths = np.linalg.norm(self.vectors, axis=1, keepdims=True)
        return np.asarray(self.vectors / np.maximum(lengths, np.float32(1e-12)))

    @cached_property
    def _means(self) -> Float32[np.ndarray, "images d"]:
        places = (1 / self._sizes[self.owners], (self.owners, np.arange(len(self.owners))))
        means = sparse.csr_array(places, shape=(self.count, len(self.owners)))
        return np.asarray(means @ self._unit, np.float32)

    @cached_property
    def _sizes(self) -> Float32[np.ndarray, " images"]:
        return np.bincount(self.owners, minlength=self.count).astype(np.float32)


@dataclass(frozen=True, eq=False)
class LabelScores:
    """Classes without the Hamming distance of two images' labels; a caption has its image's."""

    labels: Float32[np.ndarray, "images classes"] = field(repr=False)
    owners: Rows = field(repr=False)

    def images(self, rows: Rows) -> Block:
        """How many classes two images agree about."""
        sizes = self.labels.sum(axis=1)
        shared = self.labels[rows] @ self.labels.T
        distances = sizes[rows][:, None] + sizes - 2 * shared
        return np.asarray((self.labels.shape[1] - distances)[:, self.owners])

    def captions(self, rows: Rows) -> Block:
        """The same for the images of some captions."""
        return self.images(self.owners[rows])

    def left_out(self, rows: Rows) -> Scores:
        """An image agrees with itself about everything."""
        return np.full(len(rows), self.labels.shape[1], np.float32)


def scorers(data: Crisscrossed) -> dict[str, Callable[[], Scorer]]:
    """All measures by name, made when asked for."""
    corpora = Corpora(data)
    made: dict[str, Callable[[], Scorer]] = {
        name: partial(CaptionScores, name, corpora) for name in MEASURES
    }
    made[LABELS] = lambda: LabelScores(_labels(data.pairs.column("labels")), data.owners)
    made[SENTENCE] = lambda: SentenceScores(
        Sentence().vectors(data.pairs).values, data.owners, len(data.pairs)
    )
    return made


def check(measure: str) -> None:
    """Refuse a name that is no measure."""
    known = [LABELS, SENTENCE, *MEASURES]
    if measure not in known:
        raise UsageError(f"no measure '{measure}'{suggestion(measure, known)}")


def weights(measure: str) -> str:
    """What a measure's network is, where it has one: with other weights, other scores."""
    return sentence_encoder(Sentence().encoder).fingerprint() if measure == SENTENCE else ""


def label_counts(data: Crisscrossed) -> Rows:
    """How many labels each image has."""
    lengths = pc.fill_null(pc.list_value_length(data.pairs.column("labels")), 0)
    return np.asarray(lengths, np.int64)


def _labels(column: pa.ChunkedArray) -> Float32[np.ndarray, "images classes"]:
    """A one for every label an image has."""
    names = pc.list_flatten(column).combine_chunks().dictionary_encode()
    table = np.zeros((len(column), len(names.dictionary)), np.float32)
    table[np.asarray(pc.list_parent_indices(column)), np.asarray(names.indices)] = 1
    return table


def _raised(cosines: Float32[np.ndarray, "*any"]) -> Float32[np.ndarray, "*any"]:
    return np.maximum(cosines + np.float32(1), np.float32(0))

"""What it takes to build a model, now or again: settings, sizes of features, the words it knows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from jaxtyping import Int
from torch import nn

from trope.data.digests import distinct, image_digests
from trope.data.labels import label_names
from trope.data.pairs import Pairs
from trope.data.text import prepare, tokenize
from trope.data.vocabulary import Vocabulary
from trope.data.wordless import named_texts
from trope.encoders.content import Encoder
from trope.encoders.fragments import Fragments
from trope.encoders.frozen import Frozen
from trope.encoders.gru import Gru
from trope.encoders.inputs import Inputs, Rows, Tokens, Words, stored
from trope.encoders.masking import MaskedFeatures
from trope.encoders.model import Model, Tower
from trope.encoders.normal import Normal
from trope.encoders.pixels import Pixels
from trope.encoders.precomputed import boxed, stored_texts
from trope.encoders.scorers import COSINE, build_scorer, scorer_settings
from trope.encoders.scorers.matching import Match
from trope.encoders.sentences import TunedSentences, pieces
from trope.encoders.settings import HeadSettings, ImageSettings, TextSettings
from trope.encoders.shared import Inside, head_around, shared_inside
from trope.encoders.states import GruStates
from trope.encoders.tuned import Tuned, tunable
from trope.encoders.words import WordVectors
from trope.errors import DataError
from trope.features import features
from trope.features.backbones import backbone
from trope.features.kinds import GRID, Backbone, Kind
from trope.features.precomputed import Precomputed
from trope.features.sentences import TOKENS, sentence_encoder
from trope.features.texts import sentence_features, token_features
from trope.runtime import generator

WORDS = ("gru", "words")  # encoders that number words


class Pictures(NamedTuple):
    """Distinct pictures as inputs; `rows` gives each row's, -1 where it has none to use."""

    inputs: Inputs
    rows: Int[np.ndarray, " rows"]
    size: int = 0
    failed: tuple[tuple[int, str], ...] = ()
    remarks: tuple[str, ...] = ()
    parts: bool = False  # whether items have several
    boxes: bool = False  # whether it is known where these are


class Texts(NamedTuple):
    """All texts of a data set, one after the other, as inputs."""

    inputs: Inputs
    size: int = 0
    remarks: tuple[str, ...] = ()
    parts: bool = True


@dataclass(frozen=True)
class Plan:
    """The settings of a model's parts, the sizes of the features it takes, the words it knows.

    `labels` are those it predicts, in order; of data in which every pair has one of them, `single`.
    `image_targets` and `text_targets` are how many things a masked part of an item can be.
    """

    image: ImageSettings = field(default_factory=ImageSettings)
    text: TextSettings = field(default_factory=TextSettings)
    head: HeadSettings = field(default_factory=HeadSettings)
    image_size: int = 0
    text_size: int = 0
    words: tuple[str, ...] = field(default=(), repr=False)
    scorer: Mapping[str, Any] = field(default_factory=lambda: {"name": COSINE})
    labels: tuple[str, ...] = field(default=(), repr=False)
    single: bool = False
    boxes: bool = False
    image_targets: int = 0
    text_targets: int = 0

    @property
    def fragments(self) -> bool:
        """Whether items are compared by their parts."""
        found = scorer_settings(self.scorer)
        return found is not None and found.locals

    @property
    def parts(self) -> bool:
        """Whether encoders are to look at the parts of items: cells, words."""
        return self.head.parts or scorer_settings(self.scorer) is not None

    @property
    def width(self) -> int:
        """The numbers of a point."""
        scores = self.head.kind == "transformer" and self.head.transformer.vector == "labels"
        return len(self.labels) if scores else self.head.size

    def model(self, seed: int) -> Model:
        """A model with new weights, which follow from the seed alone.

        Each part has random numbers of its own: two plans start equal in all they have in common.
        """
        with _own_numbers(seed, "shared head"):
            shared = shared_inside(self.head, len(self.labels))
        image = self._tower(seed, "image", self._image_encoder, shared)
        text = self._tower(seed, "text", self._text_encoder, shared)
        with _own_numbers(seed, "scorer"):
            return Model(image, text, build_scorer(self.scorer, self.head.size))

    def pictures(self, pairs: Pairs, seed: int = 0) -> Pictures:
        """What the image tower is fed: features from the cache, or pixels."""
        if self.image.encoder == "tuned":
            return _pixels(pairs, self.image, seed)
        network = backbone(self.image.backbone)
        kind = self._kind(network, pairs)
        table = features(pairs, network, kind, side=self.image.grid if kind == "grid" else GRID)
        size = table.shape[-1]
        _expect(self.image_size, size, "pictures")
        placed = boxed(table, pairs) if kind == "tokens" and self.head.predicts else None
        boxes = kind == "grid" or placed is not None
        if self.boxes and not boxes:
            raise DataError(
                f"{pairs.root}: has no features/image_boxes.npy, and the model was trained to see "
                "where regions of pictures are"
            )
        several = kind != "pooled"
        found: Inputs = stored(table) if placed is None else placed
        return Pictures(found, table.rows, size, table.failed, table.remarks, several, boxes)

    def texts(self, pairs: Pairs) -> Texts:
        """What the text tower is fed: numbers of words, or features from the cache."""
        if self.text.encoder == "precomputed":
            return self._stored_texts(pairs)
        found = [prepare(text, self.text.preparation) for text in pairs.flat_texts()[0].to_pylist()]
        if self.text.encoder in WORDS:
            return Texts(_numbered(found, Vocabulary(self.words), self.text.longest))
        if self.text.encoder == "sentence-tuned":
            return Texts(pieces(found, self.text.model, self.text.longest))
        return self._sentences(found)

    def fitted(self, pairs: Pairs) -> Plan:
        """The same plan with the words and labels of the training rows, where it needs them."""
        return self._with_labels(pairs)._with_words(pairs)

    def asked(self, pairs: Pairs) -> Pairs:
        """The data as this plan reads it: texts may be known by stored vectors alone."""
        return named_texts(pairs) if self.text.encoder == "precomputed" else pairs

    def _with_labels(self, pairs: Pairs) -> Plan:
        if not self.head.predicts:
            return self
        labels = label_names(pairs.in_split("train"))
        if not labels:
            raise DataError(
                f"{pairs.source}: no row of split 'train' has labels, which head.kind="
                f"{self.head.kind} learns to predict; give rows a column 'labels'"
            )
        if len(labels) < 2:
            raise DataError(
                f"{pairs.source}: split 'train' has but one label, '{labels[0]}': what all pairs "
                "have in common cannot be learned; training needs two different labels"
            )
        return replace(self, labels=labels)

    def _with_words(self, pairs: Pairs) -> Plan:
        if self.text.encoder not in WORDS:
            return self
        train = pairs.in_split("train").flat_texts()[0].to_pylist()
        tokens = [tokenize(prepare(text, self.text.preparation)) for text in train]
        least = self.text.min_count
        words = Vocabulary.build(tokens, least).words
        if not words and any(tokens):
            raise DataError(
                f"{pairs.root}: no word occurs {least} times in the texts of split 'train'; "
                "lower text.min_count"
            )
        if not words:
            raise DataError(f"{pairs.root}: no words in the texts of split 'train' to learn from")
        return replace(self, words=words)

    def _sentences(self, texts: list[str]) -> Texts:
        network = sentence_encoder(self.text.model)
        if self.parts:
            table, remarks = token_features(texts, network)
            inputs: Inputs = Tokens(table)
            size = table.size
        else:
            values, remarks = sentence_features(texts, network)
            inputs, size = Rows(torch.from_numpy(values)), values.shape[-1]
        _expect(self.text_size, size, "texts")
        return Texts(inputs, size, remarks, self.head.parts)

    def _stored_texts(self, pairs: Pairs) -> Texts:
        """The stored vector of each text's row."""
        inputs, size, several = stored_texts(pairs, self.head.parts)
        _expect(self.text_size, size, "texts")
        return Texts(inputs, size, (), several)

    def _kind(self, network: Backbone | Precomputed, pairs: Pairs) -> Kind:
        """Of pictures: one vector each, or what the head needs of their parts."""
        if not self.parts:
            return "pooled"
        if not isinstance(network, Precomputed):
            return "grid"
        return network.kind(pairs, "image") if self.head.predicts else "tokens"

    def _tower(
        self, seed: int, side: str, encoder: Callable[[], Encoder], shared: Inside | None
    ) -> Tower:
        with _own_numbers(seed, f"{side} encoder"):
            made = encoder()
        with _own_numbers(seed, f"{side} head"):
            return Tower(made, self._head(made, side, shared))

    def _head(self, encoder: Encoder, side: str, shared: Inside | None) -> nn.Module:
        """Parts to compare, distributions, labels, several senses, or the plain linear map.

        States of a GRU are parts that need no other map.
        """
        if self.fragments:
            own = isinstance(encoder, Gru)
            return Fragments(encoder.part, self.head, mapped=not own, normed=side == "image")
        chosen = scorer_settings(self.scorer)
        if isinstance(chosen, Match):
            return Normal(encoder.whole, encoder.part, self.head, chosen.log_sigma)
        around = partial(head_around, encoder, self.head, len(self.labels), shared)
        if side == "image":
            return around(boxes=self.boxes, targets=self.image_targets)
        return around(places=self._places(), targets=self.text_targets)

    def _places(self) -> int:
        """How many parts of a text are told apart by their order; stored vectors have none."""
        if self.text.encoder == "precomputed":
            return 0
        return TOKENS if self.text.encoder == "sentence" else self.text.longest

    def _masks(self, size: int, targets: int) -> MaskedFeatures | None:
        return MaskedFeatures(size, targets, self.head.transformer.mask) if targets else None

    def _image_encoder(self) -> Encoder:
        if self.image.encoder == "tuned":
            return Tuned(self.image.backbone, self.image.dropout, self.image.grid)
        cells = self.boxes and self.image.backbone != "precomputed"
        side = self.image.grid if cells else 0
        masks = self._masks(self.image_size, self.image_targets)
        return Frozen(self.image_size, self.image.dropout, self.image.normalize, side, masks)

    def _text_encoder(self) -> Encoder:
        mask = self.head.transformer.mask if self.text_targets else 0.0
        if self.text.encoder == "words":
            return WordVectors(len(Vocabulary(self.words)), self.text, mask)
        if self.text.encoder == "gru" and self.head.kind == "transformer":
            return GruStates(len(Vocabulary(self.words)), self.text, mask)
        if self.text.encoder == "gru":
            return Gru(len(Vocabulary(self.words)), self.text, states=self.fragments)
        if self.text.encoder == "sentence-tuned":
            return TunedSentences(self.text.model, self.text.dropout)
        masks = self._masks(self.text_size, self.text_targets)
        return Frozen(self.text_size, self.text.dropout, self.text.normalize, mask=masks)


@contextmanager
def _own_numbers(seed: int, part: str) -> Iterator[None]:
    """Torch's random numbers for one part of a model; outside they go on as if nothing was."""
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(int(generator(seed, part).integers(2**62)))
        yield


def _pixels(pairs: Pairs, settings: ImageSettings, seed: int) -> Pictures:
    """Distinct pictures by content; what cannot even be read is left out and told."""
    named = image_digests(pairs)
    there = np.flatnonzero(named.values != b"")
    first, number = distinct(named.values[there])
    rows = np.full(len(pairs), -1)
    rows[there] = number
    size = tunable(settings.backbone).size
    inputs = Pixels(pairs.images, there[first], size, settings.flip, seed)
    return Pictures(inputs, rows, failed=tuple(named.failed), boxes=True)


def _numbered(texts: list[str], vocabulary: Vocabulary, longest: int) -> Words:
    return Words.of(vocabulary.encode(tokenize(text)[:longest]) for text in texts)


def _expect(wanted: int, found: int, what: str) -> None:
    """A model takes features of one size; 0 is a model still to be built."""
    if wanted not in (0, found):
        raise DataError(f"features of {what} have size {found}, the model takes {wanted}")

"""The settings of a model's two towers and of their heads."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from trope.data.text import TextPreparation
from trope.features.kinds import GRID


@dataclass(frozen=True)
class ImageSettings:
    """Pictures: features of a frozen backbone from the cache, or the backbone trained along.

    `normalize` divides each feature vector by its length before the head. `dropout` is all that is
    dropped: a backbone that is trained along drops nothing inside. Items with several senses look
    at `grid` by `grid` cells of a picture.
    """

    encoder: Literal["frozen", "tuned"] = "frozen"
    backbone: str = "efficientnet-lite0"
    dropout: float = 0.0
    normalize: bool = False
    flip: bool = True
    grid: int = GRID

    def __post_init__(self) -> None:
        _check_share("dropout", self.dropout)
        if not 1 <= self.grid <= GRID:
            raise ValueError(f"grid must be from 1 to {GRID}, found {self.grid}")


@dataclass(frozen=True)
class TextSettings:
    """Texts: words through a GRU or as they are, or a sentence encoder, frozen or trained along.

    `precomputed` are vectors that come with the data, as pictures may have them; then texts need no
    words at all.

    `words` and `hidden` are the sizes of the word vectors and of the GRU; the word vectors start as
    those of Doc2Vec where `pretrained`. Texts are cut after `longest` words. A word that occurs
    fewer than `min_count` times in training is the unknown word, which is learned from such words.
    `dropout` is all that is dropped: a sentence encoder that is trained along drops nothing inside.
    """

    encoder: Literal["gru", "words", "sentence", "sentence-tuned", "precomputed"] = "gru"
    model: str = "minilm"
    words: int = 200
    hidden: int = 512
    bidirectional: bool = False
    pretrained: bool = True
    min_count: int = 2
    longest: int = 150
    dropout: float = 0.0
    normalize: bool = False
    preparation: TextPreparation = field(default_factory=TextPreparation)

    def __post_init__(self) -> None:
        _check_share("dropout", self.dropout)
        for name in ("words", "hidden", "min_count", "longest"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, found {getattr(self, name)}")
        if self.bidirectional and self.hidden % 2:
            raise ValueError(f"hidden must be even for two directions, found {self.hidden}")


@dataclass(frozen=True)
class TransformerSettings:
    """The transformer that predicts labels from the parts of an item (paper 003).

    `shared` is one for both modalities. `hidden` is the size of the layer inside a block. A share
    `mask` of an item's parts is masked in training, to be predicted: words as such, features of
    pictures and frozen tokens as one of `codes` groups they fall into. Labels are scored by each
    part, the scores of a part scaled to length one where `normalized`, and their mean is an item's;
    its `vector` in the joint space are these scores, or the mean `hidden` state. `start` is the
    folder or name of a BERT whose layers it begins with; it then is built like one.
    """

    layers: int = 2
    heads: int = 4
    hidden: int = 512
    shared: bool = True
    mask: float = 0.15
    codes: int = 256
    normalized: bool = True
    vector: Literal["labels", "hidden"] = "labels"
    start: str = ""

    def __post_init__(self) -> None:
        _check_share("mask", self.mask)
        for name in ("layers", "heads", "hidden"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, found {getattr(self, name)}")
        if self.codes < 2:
            raise ValueError(f"codes must be at least 2, found {self.codes}")


@dataclass(frozen=True)
class HeadSettings:
    """From features to the joint space of `size` dimensions.

    A `linear` head places items. Two kinds predict labels as well: `dscmr` by a layer of size
    `hidden` of each modality and two layers that both share, `transformer` by the settings of that
    name, whose states have `size` numbers.

    With `senses` above 1 each item has that many points, made by attention to its parts (PIE-Net);
    `attention` is the size of the layer inside it, 0 for half of a part's, as in the paper. On
    cells of 1280 channels that layer takes most of a step's time: small data can do with less.
    """

    size: int = 256
    senses: int = 1
    dropout: float = 0.0
    attention: int = 0
    kind: Literal["linear", "dscmr", "transformer"] = "linear"
    hidden: int = 2048
    transformer: TransformerSettings = field(default_factory=TransformerSettings)

    def __post_init__(self) -> None:
        _check_share("dropout", self.dropout)
        if self.attention < 0:
            raise ValueError(f"attention must be at least 0, found {self.attention}")
        for name in ("size", "senses", "hidden"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, found {getattr(self, name)}")
        if self.kind != "linear" and self.senses > 1:
            raise ValueError(f"senses: a head of kind {self.kind} has one, found {self.senses}")
        if self.kind == "transformer" and self.size % self.transformer.heads:
            raise ValueError(
                f"size must be divided by {self.transformer.heads} heads, found {self.size}"
            )

    @property
    def predicts(self) -> bool:
        """Whether labels are predicted."""
        return self.kind != "linear"

    @property
    def parts(self) -> bool:
        """Whether it looks at the parts of an item: cells, words."""
        return self.senses > 1 or self.kind == "transformer"


def _check_share(name: str, value: float) -> None:
    if not 0 <= value < 1:
        raise ValueError(f"{name} must be at least 0 and below 1, found {value}")

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
    """Texts: words through a GRU, or a sentence encoder, frozen in the cache or trained along.

    `words` and `hidden` are the sizes of the word vectors and of the GRU; the word vectors start as
    those of Doc2Vec where `pretrained`. Texts are cut after `longest` words. A word that occurs
    fewer than `min_count` times in training is the unknown word, which is learned from such words.
    `dropout` is all that is dropped: a sentence encoder that is trained along drops nothing inside.
    """

    encoder: Literal["gru", "sentence", "sentence-tuned"] = "gru"
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
class HeadSettings:
    """From features to the joint space of `size` dimensions.

    With `senses` above 1 each item has that many points, made by attention to its parts (PIE-Net);
    `attention` is the size of the layer inside it, 0 for half of a part's, as in the paper. On
    cells of 1280 channels that layer takes most of a step's time: small data can do with less.
    """

    size: int = 256
    senses: int = 1
    dropout: float = 0.0
    attention: int = 0

    def __post_init__(self) -> None:
        _check_share("dropout", self.dropout)
        if self.attention < 0:
            raise ValueError(f"attention must be at least 0, found {self.attention}")
        for name in ("size", "senses"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, found {getattr(self, name)}")


def _check_share(name: str, value: float) -> None:
    if not 0 <= value < 1:
        raise ValueError(f"{name} must be at least 0 and below 1, found {value}")

"""All settings of one training run: what a recipe file holds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from trope.data.splits import SplitPlan
from trope.encoders import HeadSettings, ImageSettings, TextSettings
from trope.encoders.scorers import COSINE
from trope.errors import suggestion
from trope.losses import DAASettings

WORDS_ONLY = ("about", "paper", "small")  # what changes no run that is settled
PARTS = ("image", "text", "head", "scorer", "loss")  # what is learned, each with its own rate


@dataclass(frozen=True)
class Neighborhood:
    """Which other pair stands beside each pair, drawn anew in every epoch.

    `text`: one of its k nearest by meaning, in a space of texts; `image`: by look, in the space of
    a frozen backbone; `siblings`: another text of the same picture.
    """

    source: Literal["text", "image", "siblings"] = "text"
    space: Literal["doc2vec", "sentence"] = "doc2vec"
    k: int = 200

    def __post_init__(self) -> None:
        if self.k < 1:
            raise ValueError(f"k must be at least 1, found {self.k}")


@dataclass(frozen=True)
class Optimization:
    """How the weights are learned; the defaults are those of paper 004.

    By the schedule `plateau` the learning rate is multiplied by `decay` after `patience` epochs
    without a lower validation loss; by `step` after every `patience` epochs, whatever they brought;
    by `linear` it falls with every step, to 0 at the end of all `epochs`. Training ends after
    `stop` epochs without a better `select` on validation: 5-way recall, loss, or NDCG by shared
    `labels`. A `clip` of 0 is none. `rates` multiply the learning rate of a part: the encoders
    `image` and `text`, both `head`s, the `scorer`, or what the `loss` itself learns.
    """

    batch: int = 64
    epochs: int = 100
    learning_rate: float = 1e-4
    rates: Mapping[str, float] = field(default_factory=dict)
    weight_decay: float = 1e-5
    schedule: Literal["plateau", "step", "linear"] = "plateau"
    decay: float = 0.1
    patience: int = 5
    stop: int = 12
    clip: float = 2.0
    select: Literal["recall", "loss", "labels"] = "recall"
    precision: Literal["32-true", "bf16-mixed", "16-mixed"] = "32-true"

    def __post_init__(self) -> None:
        for name, least in (("batch", 2), ("epochs", 1), ("patience", 1), ("stop", 1), ("clip", 0)):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, found {getattr(self, name)}")
        if not self.learning_rate > 0 or not 0 < self.decay <= 1 or self.weight_decay < 0:
            raise ValueError("learning_rate and decay must be above 0, weight_decay at least 0")
        for part, rate in self.rates.items():
            if part not in PARTS:
                raise ValueError(f"rates: no part '{part}'{suggestion(part, PARTS)}")
            if not 0 < rate < math.inf:
                raise ValueError(f"rates: that of {part} must be above 0, found {rate}")


@dataclass(frozen=True)
class Recipe:
    """A recipe: a model, a loss, a weight of the pairs, neighbors and how to train.

    `scorer` is what compares images with texts: the cosine of their points, or a part of the model.
    With `daa` similarities are also ranked as captions say, whatever the loss is.
    `small` are changes, written like `--set`, for data of fewer than 20,000 training pairs, on top
    of those that hold for every recipe (`small.toml`); with "none" no such settings hold at all, as
    in the file of a run, in which everything is settled. `written` are the settings, by their
    dotted names, that stand in the file a recipe was read from.
    """

    about: str = ""
    paper: str = ""
    image: ImageSettings = field(default_factory=ImageSettings)
    text: TextSettings = field(default_factory=TextSettings)
    head: HeadSettings = field(default_factory=HeadSettings)
    scorer: Mapping[str, Any] = field(default_factory=lambda: {"name": COSINE})
    loss: Mapping[str, Any] = field(default_factory=lambda: {"name": "angular"})
    daa: DAASettings | None = None
    weight: Mapping[str, Any] | None = None
    penalties: Mapping[str, float] = field(default_factory=dict)
    neighbors: Neighborhood = field(default_factory=Neighborhood)
    training: Optimization = field(default_factory=Optimization)
    split: SplitPlan = field(default_factory=SplitPlan)
    small: tuple[str, ...] | None = ()
    written: frozenset[str] = field(default=frozenset(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for change in self.small or ():
            if change.strip().startswith("split"):
                raise ValueError("small: the split comes first, and decides what is small")


def dotted(settings: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Settings in tables by their dotted names."""
    found: dict[str, Any] = {}
    for name, value in settings.items():
        inside = isinstance(value, Mapping)
        found |= dotted(value, f"{before}{name}.") if inside else {f"{before}{name}": value}
    return found

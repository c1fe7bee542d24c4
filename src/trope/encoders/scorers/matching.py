"""How likely image and text match, by their distributions: PCME, or PCME++ in its closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from trope.encoders.scorers.comparing import Comparing
from trope.matching import (
    SMALLEST_SQUARE,
    expected_distances,
    sampled_odds,
    sampled_odds_at_rest,
    samples,
    squared_distances,
)
from trope.views import Encoded

SMALLEST_SCALE = 1e-2
ROOM = 6  # matrices that a comparison by samples holds
STARTS = {"sampled": 15.0, "closed": 5.0}  # of both scale and shift, as in the two papers


@dataclass(frozen=True)
class Match:
    """By how likely image and text match, each a normal distribution (PCME).

    `form` is what a model is trained by: `samples`
    of both items (PCME), or the `closed` form (PCME++). It is `asked` afterwards by either, or by
    the means alone, which ranks as cosines do. `scale` and `shift` are where a and b start, by
    default at 15 for samples and at 5 for the closed form; `log_sigma` is where the logarithm of
    the standard deviation starts.
    """

    locals: ClassVar[bool] = False  # whether items are compared by their parts

    form: Literal["sampled", "closed"] = "sampled"
    asked: Literal["mean", "sampled", "closed"] = "closed"
    samples: int = 7
    scale: float | None = None
    shift: float | None = None
    log_sigma: float = -4.0

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise ValueError(f"samples must be at least 1, found {self.samples}")
        if self.scale is not None and not 0 < self.scale < math.inf:
            raise ValueError(f"scale must be above 0, found {self.scale}")
        if self.form == "closed" and self.asked == "sampled":
            raise ValueError("asked by samples, a model must be trained by them: form=sampled")
        for name in ("shift", "log_sigma"):
            if not math.isfinite(getattr(self, name) or 0.0):
                raise ValueError(f"{name} must be a number, found {getattr(self, name)}")

    def module(self, dimensions: int) -> Comparing:
        """With new weights."""
        return Matching(dimensions, self)


class Matching(Comparing):
    """Scores are the log-odds of a match divided by `odds`, which is twice the scale: b/a minus the
    distance for PCME, b/2a minus half of its square for PCME++. They rank as the probabilities do,
    and have the units of cosines. Trained by one form, a model may be asked by a cheaper one. When
    it is asked by samples these are the same for all items and all times.
    """

    noise: Tensor
    draws = True

    def __init__(self, size: int, settings: Match) -> None:
        super().__init__()
        start = STARTS[settings.form]
        self.settings = settings
        self.scale = nn.Parameter(torch.tensor(start if settings.scale is None else settings.scale))
        self.shift = nn.Parameter(torch.tensor(start if settings.shift is None else settings.shift))
        fixed = torch.Generator().manual_seed(0)
        drawn = torch.randn(2, settings.samples, size, generator=fixed)
        self.register_buffer("noise", drawn, persistent=False)
        self.room = ROOM if settings.asked == "sampled" else 1

    @property
    def odds(self) -> Float[Tensor, ""]:
        """What scores are multiplied by to be log-odds of a match."""
        return 2 * self._scale

    def forward(self, image: Encoded, text: Encoded) -> Float[Tensor, "n m"]:
        """As in training, or as it is asked afterwards."""
        form = self.settings.form if self.training else self.settings.asked
        if form == "sampled":
            return self._sampled(image, text)
        apart = (
            expected_distances(image, text)
            if form == "closed"
            else squared_distances(image.mean, text.mean)
        )
        if self.settings.form == "sampled":
            return self.shift / self._scale - (apart + SMALLEST_SQUARE).sqrt()
        return (self.shift / self._scale - apart) / 2

    def _sampled(self, image: Encoded, text: Encoded) -> Float[Tensor, "n m"]:
        ours, theirs = samples(image, self._noise(image, 0)), samples(text, self._noise(text, 1))
        odds = sampled_odds if torch.is_grad_enabled() else sampled_odds_at_rest
        return odds(ours, theirs, self._scale, self.shift) / self.odds

    def _noise(self, items: Encoded, side: int) -> Float[Tensor, "*n k d"]:
        """New for each item in training, from the numbers of the step; else fixed."""
        if not self.training:
            return self.noise[side]
        shape = (len(items.mean), self.settings.samples, items.mean.shape[1])
        return torch.randn(shape).to(items.mean)

    @property
    def _scale(self) -> Float[Tensor, ""]:
        if float(self.scale.detach()) < SMALLEST_SCALE:  # far must never become near
            with torch.no_grad():
                self.scale.fill_(SMALLEST_SCALE)
        return self.scale

"""How far mined positives agree with people: shares and rank correlation, with intervals.

Images are drawn again, and a judged pair comes up as often as the image of its query and that of
its caption do, one times the other: pairs that share either are not independent. The same draws
serve all measures, so that differences are paired. A draw does not rank anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float64

from trope.experiments.mined_positives.places import Counts, Places, likelihood

Draws = Float64[np.ndarray, "draws images"]
PerPair = Float64[np.ndarray, "pairs k"]
GRID = 400  # numbers of mined pairs at which a curve over all pairs is known
TAILS = (2.5, 97.5)
TINY = 1e-9  # a spread of ranks that is rounding alone
BLOCK = 2**22  # weights of pairs at a time


class Images(NamedTuple):
    """The image of each pair's query, and that of its caption."""

    query: Counts
    caption: Counts

    def only(self, chosen: Bool[np.ndarray, " pairs"]) -> Images:
        """The images of some pairs."""
        return Images(self.query[chosen], self.caption[chosen])


@dataclass(frozen=True, eq=False)
class Estimate:
    """Values with the bounds of their 95 % intervals, and what each draw gave."""

    value: Float64[np.ndarray, " k"]
    low: Float64[np.ndarray, " k"]
    high: Float64[np.ndarray, " k"]
    drawn: Float64[np.ndarray, "draws k"]

    @classmethod
    def of(
        cls, value: Float64[np.ndarray, " k"], drawn: Float64[np.ndarray, "draws k"]
    ) -> Estimate:
        """Bounds by the percentiles of the draws; a draw without any pair is left out."""
        bounds = np.full((2, len(value)), np.nan)
        known = ~np.isnan(drawn).all(axis=0)
        if known.any():
            bounds[:, known] = np.nanpercentile(drawn[:, known], TAILS, axis=0)
        return cls(value, bounds[0], bounds[1], drawn)

    @classmethod
    def exact(cls, value: Float64[np.ndarray, " k"]) -> Estimate:
        """A count of the data at hand, which has no interval."""
        return cls(value, value, value, value[None])

    def minus(self, other: Estimate) -> Estimate:
        """The difference, paired draw by draw."""
        return Estimate.of(self.value - other.value, self.drawn - other.drawn)

    def document(self) -> dict[str, object]:
        """Values and bounds as plain lists."""
        return {name: getattr(self, name).tolist() for name in ("value", "low", "high")}


def draw(images: int, count: int, generator: np.random.Generator) -> Draws:
    """How often each image comes up in each draw; the first row is the data as they are."""
    drawn = generator.multinomial(images, np.full(images, 1 / images), size=count)
    return np.concatenate([np.ones((1, images)), drawn])


def agreement(
    found: PerPair, positive: Bool[np.ndarray, " pairs"], images: Images, draws: Draws
) -> Estimate:
    """Of the judged pairs among the mined, the share that people call positive."""
    return _share(found * positive[:, None], found, images, draws)


def recall(
    found: PerPair, positive: Bool[np.ndarray, " pairs"], images: Images, draws: Draws
) -> Estimate:
    """Of all pairs that people call positive, the share among the mined."""
    truth = np.broadcast_to(positive[:, None], found.shape).astype(float)
    return _share(found * truth, truth, images, draws)


def at_recall(agreed: Estimate, recalled: Estimate, share: float) -> Estimate:
    """The agreement where a share of the positives is found, read between the points of curves."""
    curves = zip(recalled.drawn, agreed.drawn, strict=True)
    drawn = np.array([[np.interp(share, *curve)] for curve in curves])
    return Estimate.of(np.array([np.interp(share, recalled.value, agreed.value)]), drawn)


def needed(
    places: Places, positive: Bool[np.ndarray, " pairs"], share: float, images: Images, draws: Draws
) -> Estimate:
    """How many pairs must be mined in all, best first, to find a share of the positives."""
    most = int((places.above_all + places.tied_all).max())
    grid = np.unique(np.geomspace(1, most, GRID).round())
    found = likelihood(places.above_all[positive], places.tied_all[positive], grid)
    sums = _sums(np.append(found, np.ones((len(found), 1)), axis=1), images.only(positive), draws)
    rows = zip(sums[:, :-1], sums[:, -1], strict=True)
    crossed = np.array([[_crossing(share, *row, grid)] for row in rows])
    return Estimate.of(crossed[0], crossed[1:])


def spearman(
    ours: Float64[np.ndarray, " pairs"],
    theirs: Float64[np.ndarray, " pairs"],
    images: Images,
    draws: Draws,
) -> Estimate:
    """Rank correlation; a draw weighs the ranks of all pairs and does not rank anew."""
    x, y = _ranks(ours), _ranks(theirs)
    moments = np.stack([np.ones_like(x), x, y, x * y, x * x, y * y], axis=1)
    n, sx, sy, sxy, sxx, syy = _sums(moments, images, draws).T
    n = np.maximum(n, 1)  # a draw without any pair
    spread = np.sqrt(np.maximum(sxx - sx**2 / n, 0) * np.maximum(syy - sy**2 / n, 0))
    found = ((sxy - sx * sy / n) / np.where(spread > TINY * n, spread, np.nan))[:, None]
    return Estimate.of(found[0], found[1:])


def _crossing(
    share: float, found: Float64[np.ndarray, " n"], total: float, grid: Float64[np.ndarray, " n"]
) -> float:
    """Where a growing count first holds a share of the total."""
    return float(np.interp(share * total, found, grid)) if total else np.nan


def _ranks(scores: Float64[np.ndarray, " pairs"]) -> Float64[np.ndarray, " pairs"]:
    """Ranks from -1/2 to 1/2; equal scores share the middle of theirs."""
    _, place, counts = np.unique(scores, return_inverse=True, return_counts=True)
    return (np.cumsum(counts) - (counts + 1) / 2)[place] / len(scores) - 0.5


def _share(top: PerPair, bottom: PerPair, images: Images, draws: Draws) -> Estimate:
    above, below = np.split(_sums(np.append(top, bottom, axis=1), images, draws), 2, axis=1)
    found = np.divide(above, below, out=np.full_like(above, np.nan), where=below > 0)
    return Estimate.of(found[0], found[1:])


def _sums(values: PerPair, images: Images, draws: Draws) -> Float64[np.ndarray, "draws k"]:
    """Sums over the pairs, each as often as a draw has it; some draws at a time."""
    own = images.query == images.caption  # one image, drawn once
    sums = np.empty((len(draws), values.shape[1]))
    step = max(1, BLOCK // max(1, len(own)))
    for first in range(0, len(draws), step):
        some = draws[first : first + step]
        weights = some[:, images.query] * np.where(own, 1, some[:, images.caption])
        sums[first : first + step] = weights @ values
    return sums

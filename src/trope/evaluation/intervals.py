"""A mean over queries with a 95 % interval: a bootstrap of clusters (stories, pictures) of queries.

Queries of one story are alike, so whole clusters are drawn again, as many as there are. A mean is a
ratio of sums: clusters are of different sizes. The quantiles lie a little further out than 2.5 %
and 97.5 %, as far as Student's t lies beyond the normal distribution (Hesterberg 2015, "expanded
percentile interval"): with few clusters the plain ones are too narrow. Of several runs, chance
between them is added to chance between clusters, as in comparisons. Where all queries agree, no
draw can differ: what none of n clusters shows may still hold for 3/n of all (rule of three).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy import sparse, stats

from trope.evaluation.comparison import POWER, UNSEEN, Comparison, Spread, verdict_of
from trope.runtime import generator

DRAWS = 1_000
BLOCK = 2**24  # counts of clusters held at a time
CONFIDENCE = 0.95

Values: TypeAlias = Float[np.ndarray, " queries"]
Clusters: TypeAlias = Int[np.ndarray, " queries"]
Folds: TypeAlias = Int[np.ndarray, " queries"]
Counts: TypeAlias = Int[np.ndarray, "draws clusters"]
Bounds: TypeAlias = tuple[float, float]

ANY: Bounds = (-np.inf, np.inf)


@dataclass(frozen=True)
class Result:
    """A mean (or median) over queries, and the bounds of its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Drawn:
    """A statistic of all queries, and of the queries of each redrawn set of so many clusters.

    A row for each run; the clusters of a draw are the same in all. `alike` says that no query
    differs from another, `median` what the statistic is.
    """

    values: Float[np.ndarray, " runs"]
    draws: Float[np.ndarray, "runs draws"]
    clusters: int
    alike: bool = False
    median: bool = False

    @property
    def value(self) -> float:
        """The mean over runs."""
        return float(self.values.mean())

    def __add__(self, other: Drawn) -> Drawn:
        """The sum of two statistics of the same redrawn clusters."""
        return self._with(other, self.values + other.values, self.draws + other.draws)

    def __sub__(self, other: Drawn) -> Drawn:
        """The difference of two statistics of the same redrawn clusters."""
        return self._with(other, self.values - other.values, self.draws - other.draws)

    def result(self, bounds: Bounds = ANY) -> Result:
        """The value with its interval, which always holds it and lies within the bounds."""
        draws = self.draws.mean(axis=0)
        draws = draws[~np.isnan(draws)]
        if not len(draws):
            return Result(self.value, self.value, self.value)
        more, unseen = self._between_runs(), self._unseen(bounds)
        low, high = (float(bound) for bound in np.quantile(draws, _sides(self.clusters)))
        low = self.value - max(math.hypot(max(self.value - low, 0.0), more), unseen)
        high = self.value + max(math.hypot(max(high - self.value, 0.0), more), unseen)
        lowest, highest = bounds
        return Result(
            self.value, min(max(low, lowest), self.value), max(min(high, highest), self.value)
        )

    def spread(self) -> Spread:
        """The parts of the variance of the mean over runs.

        How much runs differ on the same clusters is in both parts; it is told by how far the draws
        of a run scatter around those of all.
        """
        runs = len(self.values)
        draws = self.draws[:, ~np.isnan(self.draws).any(axis=0)]
        of_clusters = float(draws.mean(axis=0).var())
        if runs == 1:
            return Spread(0.0, of_clusters, 0.0, 1, self.clusters)
        apart = float((draws - draws.mean(axis=0)).var(axis=1).sum())
        of_runs = float(self.values.var(ddof=1) / runs)
        return Spread(of_runs, of_clusters, apart / (runs * (runs - 1)), runs, self.clusters)

    @property
    def firm(self) -> bool:
        """Whether the few clusters that none may stand for cannot move it: a median, by half."""
        return self.median and self.clusters > 2 * UNSEEN

    def _with(self, other: Drawn, values: np.ndarray, draws: np.ndarray) -> Drawn:
        clusters, alike = min(self.clusters, other.clusters), self.alike and other.alike
        return Drawn(values, draws, clusters, alike, self.median and other.median)

    def _unseen(self, bounds: Bounds) -> float:
        """How far from the value the mean of all may lie though all queries agree.

        Nothing is known of that where the statistic may be any number.
        """
        scale = bounds[1] - bounds[0]
        known = self.firm or not self.alike or not math.isfinite(scale)
        return 0.0 if known else UNSEEN / self.clusters * scale

    def _between_runs(self) -> float:
        """What chance between runs adds to half the width, as a side of a square."""
        if len(self.values) == 1 or self.clusters < 2:
            return 0.0
        spread, chance = self.spread(), (1 - CONFIDENCE) / 2
        alone = Spread(0.0, spread.clusters, 0.0, 1, self.clusters).reach(chance)
        return math.sqrt(max(spread.reach(chance) ** 2 - alone**2, 0.0))


def contrast(
    left: Drawn, right: Drawn, least: float, scale: float, *, same: bool = False
) -> Comparison:
    """Two statistics of the same redrawn clusters, left minus right, as means are compared.

    `same` says that both are of the same runs: where they agree, there is nothing to be unsure of.
    """
    gap = left - right
    if math.isnan(gap.value) or gap.clusters < 2:
        return Comparison(gap.value, -np.inf, np.inf, np.inf, "undecided", gap.clusters)
    found, spread = gap.result(), gap.spread()
    alike = not same and not gap.firm and spread.reach((1 - CONFIDENCE) / 2) <= 1e-9 * scale
    unseen = UNSEEN / gap.clusters * scale if alike else 0.0
    low, high = min(found.low, gap.value - unseen), max(found.high, gap.value + unseen)
    detectable = (high - low) / 2 + max(spread.reach(1 - POWER), unseen)
    verdict = verdict_of(low, high, least)
    return Comparison(gap.value, low, high, detectable, verdict, gap.clusters)


def together(runs: Sequence[Drawn]) -> Drawn:
    """The same statistic of several runs, drawn from the same clusters."""
    values = np.concatenate([run.values for run in runs])
    draws = np.concatenate([run.draws for run in runs])
    alike, median = all(run.alike for run in runs), all(run.median for run in runs)
    return Drawn(values, draws, min(run.clusters for run in runs), alike, median)


def summary(
    values: Values,
    clusters: Clusters | None = None,
    *,
    median: bool = False,
    seed: int = 0,
    bounds: Bounds = ANY,
) -> Result:
    """The mean or median over the queries that count, with its interval within the bounds."""
    return redrawn({"": values}, clusters, {""} if median else (), seed=seed)[""].result(bounds)


def redrawn(
    values: Mapping[str, Values],
    clusters: Clusters | None = None,
    medians: Collection[str] = (),
    folds: Folds | None = None,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> dict[str, Drawn]:
    """Several measurements of the same queries, all from the same redrawn clusters.

    Queries that do not count are NaN. With `folds`, a number for each query, -1 for none, the
    statistic is the mean over folds of the statistic of each. Where all queries that count for a
    measurement (in some fold) lie in one cluster, queries are drawn instead: the interval then says
    nothing about other clusters.
    """
    if not values:
        return {}
    table = np.stack(list(values.values()), axis=1)
    alone = np.arange(len(table))
    which = alone if clusters is None else np.unique(clusters, return_inverse=True)[1].ravel()
    middle = np.array([name in medians for name in values])
    parts = [table] if folds is None else _parts(table, folds)
    single = np.any([_holding(part, which) == 1 for part in parts], axis=0)
    found = np.empty((len(parts), 1 + draws, len(values)))
    for columns, units in ((~single, which), (single, alone)):
        if columns.any():
            for part, place in zip(parts, found, strict=True):
                some = part[:, columns]
                place[:, columns] = _with_draws(some, units, middle[columns], draws, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a statistic that no fold has is NaN
        known = np.nanmean(found, axis=0)
    units = np.where(single, _holding(table, alone), _holding(table, which))
    alike = _alike(table)
    return {
        name: Drawn(
            known[:1, i], known[None, 1:, i], int(units[i]), bool(alike[i]), name in medians
        )
        for i, name in enumerate(values)
    }


def _alike(table: Float[np.ndarray, "queries names"]) -> Bool[np.ndarray, " names"]:
    """Whether all queries that count for a measurement agree, but for rounding."""
    low = np.where(np.isnan(table), np.inf, table).min(axis=0, initial=np.inf)
    high = np.where(np.isnan(table), -np.inf, table).max(axis=0, initial=-np.inf)
    return np.asarray((high >= low) & (high - low <= 1e-9 * np.maximum(1.0, np.abs(high))))


def _holding(
    table: Float[np.ndarray, "queries names"], which: Clusters
) -> Int[np.ndarray, " names"]:
    """How many clusters hold a query that counts for each measurement."""
    there = _members(which) @ (~np.isnan(table)).astype(np.float64)
    return np.asarray(np.count_nonzero(there, axis=0))


def _members(which: Clusters) -> sparse.csr_matrix:
    """Clusters by queries."""
    return sparse.csr_matrix((np.ones(len(which)), (which, np.arange(len(which)))))


def _parts(
    table: Float[np.ndarray, "queries names"], folds: Folds
) -> list[Float[np.ndarray, "queries names"]]:
    return [
        np.where((folds == fold)[:, None], table, np.nan) for fold in np.unique(folds[folds >= 0])
    ]


def _with_draws(
    table: Float[np.ndarray, "queries names"],
    which: Clusters,
    middle: Bool[np.ndarray, " names"],
    draws: int,
    seed: int,
) -> Float[np.ndarray, "all names"]:
    """The statistics of all queries, and below those of each draw."""
    return np.vstack([_statistics(table, middle), _redrawn(table, which, middle, draws, seed)])


def _redrawn(
    table: Float[np.ndarray, "queries names"],
    which: Clusters,
    middle: Bool[np.ndarray, " names"],
    draws: int,
    seed: int,
) -> Float[np.ndarray, "draws names"]:
    """The statistics of each draw of clusters."""
    there = ~np.isnan(table)
    groups = int(which.max(initial=0)) + 1
    members = _members(which)
    sums, sizes = members @ np.where(there, table, 0.0), members @ there.astype(np.float64)
    found = []
    for counts in _draws(groups, draws, generator(seed, "bootstrap")):
        with np.errstate(invalid="ignore"):  # a draw may hold no query that counts
            means = (counts @ sums) / (counts @ sizes)
        for column in np.flatnonzero(middle):
            means[:, column] = _medians(table[:, column], counts, which)
        found.append(means)
    return np.concatenate(found)


def _draws(groups: int, draws: int, random: np.random.Generator) -> Iterator[Counts]:
    """How often each cluster is drawn, in blocks of draws."""
    step = max(1, BLOCK // groups)
    for start in range(0, draws, step):
        some = min(step, draws - start)
        drawn = random.integers(0, groups, (some, groups))
        drawn += np.arange(some)[:, None] * groups
        yield np.bincount(drawn.ravel(), minlength=some * groups).reshape(some, groups)


def _statistics(
    table: Float[np.ndarray, "queries names"], middle: Bool[np.ndarray, " names"]
) -> Float[np.ndarray, " names"]:
    columns = [column[~np.isnan(column)] for column in table.T]
    kinds = [np.median if median else np.mean for median in middle]
    found = [kind(c) if len(c) else np.nan for kind, c in zip(kinds, columns, strict=True)]
    return np.array(found, np.float64)


def _medians(values: Values, counts: Counts, which: Clusters) -> Float[np.ndarray, " draws"]:
    """The middle value of each draw; between the two middle ones where their number is even."""
    order = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]
    ordered, groups = values[order], which[order]
    found = np.full(len(counts), np.nan)
    for draw, weights in enumerate(counts):
        ends = np.cumsum(weights[groups])
        if len(ends) and ends[-1]:
            half = [(ends[-1] + 1) // 2, ends[-1] // 2 + 1]
            found[draw] = ordered[np.searchsorted(ends, half)].mean()
    return found


def _sides(groups: int) -> tuple[float, float]:
    """The quantiles that make an interval of so many clusters."""
    if groups < 2:
        return 0.0, 1.0
    reach = stats.t.ppf((1 + CONFIDENCE) / 2, groups - 1) * (groups / (groups - 1)) ** 0.5
    tail = float(stats.norm.cdf(-reach))
    return tail, 1 - tail

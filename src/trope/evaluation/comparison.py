"""Is one side better than the other? Runs of both on the same queries, told apart from chance.

Two things vary at random: which runs were trained (seeds) and which queries were asked (stories,
pictures: clusters). Every run answers every query, so the two are crossed, and the variance of the
difference of means is V_runs + V_clusters - V_both: what both share would be counted twice. Ten
runs tell less about chance than a hundred stories do, so each part of the variance is multiplied by
the quantile of Student's t for its own number, and the interval's half width is the root of
t_runs² V_runs + t_clusters² V_clusters - z² V_both, never less than either of the first two alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from jaxtyping import Float, Int
from scipy import sparse, stats

Verdict: TypeAlias = Literal["better", "worse", "equal", "undecided"]
Values: TypeAlias = Float[np.ndarray, "runs queries"]
Clusters: TypeAlias = Int[np.ndarray, " queries"]
Weights: TypeAlias = Float[np.ndarray, " queries"]

POWER = 0.8  # how often a difference of the size called detectable is seen
LEAST = 0.01  # of a share: differences within it do not matter
UNSEEN = 3.0  # what none of n clusters shows may still hold for 3/n of all (rule of three, 95 %)


@dataclass(frozen=True)
class Comparison:
    """The mean difference of two sides, its interval, and what follows.

    `detectable` is the smallest true difference that would be seen four times out of five. `better`
    means larger: for ranks and other numbers that should be small, read it the other way round.
    """

    difference: float
    low: float
    high: float
    detectable: float
    verdict: Verdict
    clusters: int


class Spread(NamedTuple):
    """The variance of a mean difference that is due to runs, to clusters, and to both together."""

    runs: float
    clusters: float
    both: float
    run_count: int
    cluster_count: int

    def reach(self, chance: float) -> float:
        """How far below the truth the mean lies at most, but for so small a chance."""
        clusters = stats.t.ppf(1 - chance, self.cluster_count - 1) ** 2 * self.clusters
        if self.run_count == 1:
            return float(clusters**0.5)
        runs = stats.t.ppf(1 - chance, self.run_count - 1) ** 2 * self.runs
        twice = stats.norm.ppf(1 - chance) ** 2 * self.both
        return float(max(runs + clusters - twice, runs, clusters) ** 0.5)


def compare(
    left: Values,
    right: Values,
    clusters: Clusters,
    *,
    least: float = LEAST,
    confidence: float = 0.95,
    scale: float = 1.0,
    weights: Weights | None = None,
) -> Comparison:
    """Left minus right, run by run and query by query; run i has the same seed on both sides.

    Queries that do not count (NaN) in some run are left out. `least` is the smallest difference
    that would matter: an interval within it on both sides of zero says that they are equal. Where
    all queries differ alike, as far as is seen, the interval reaches 3 / clusters of the `scale`
    (how far apart two values can be) to both sides; not where a side is compared with itself.
    `weights` say how much each query counts, by default all the same.
    """
    gaps = left - right
    counts = ~np.isnan(gaps).any(axis=0)
    gaps, clusters = gaps[:, counts], clusters[counts]
    if not gaps.size:
        return Comparison(np.nan, -np.inf, np.inf, np.inf, "undecided", 0)
    heavy = np.ones(len(clusters)) if weights is None else weights[counts]
    difference = float(np.average(gaps.mean(axis=0), weights=heavy))
    groups = len(np.unique(clusters))
    if groups < 2:  # one story tells nothing about others
        return Comparison(difference, -np.inf, np.inf, np.inf, "undecided", groups)
    spread = spread_of(gaps, clusters, heavy)
    unseen = UNSEEN / groups * scale if left is not right and _alike(gaps, scale) else 0.0
    half = max(spread.reach((1 - confidence) / 2), unseen)
    low, high = difference - half, difference + half
    detectable = half + max(spread.reach(1 - POWER), unseen)
    return Comparison(difference, low, high, detectable, verdict_of(low, high, least), groups)


def spread_of(gaps: Values, clusters: Clusters, weights: Weights | None = None) -> Spread:
    """The parts of the variance of the mean over runs and queries, of two clusters or more.

    With one run, chance between runs is unseen: what is found holds for these two models alone.
    """
    runs, queries = gaps.shape
    heavy = np.ones(queries) if weights is None else weights * (queries / weights.sum())
    which = np.unique(clusters, return_inverse=True)[1].ravel()
    sizes = np.bincount(which, heavy)
    groups = len(sizes)
    means = gaps @ heavy / queries
    away = means - means.mean()
    sums = _sums((gaps - means.mean()) * heavy, which)
    shared = sums.mean(axis=0)
    rest = sums - shared - away[:, None] * sizes
    many, few = groups / (groups - 1), 1 / max(runs - 1, 1)
    return Spread(
        few / runs * float((away**2).sum()),
        many / queries**2 * float((shared**2).sum()),
        many * few / (runs * queries**2) * float((rest**2).sum()),
        runs,
        groups,
    )


def _sums(gaps: Values, which: Clusters) -> Float[np.ndarray, "runs groups"]:
    """The sum over the queries of each cluster, for each run."""
    ones = np.ones(len(which))
    members = sparse.csr_matrix((ones, (np.arange(len(which)), which)))
    return np.asarray(gaps @ members)


def _alike(gaps: Values, scale: float) -> bool:
    """Whether no query differs from another, but for rounding."""
    return bool(np.ptp(gaps) <= 1e-9 * scale)


def verdict_of(low: float, high: float, least: float) -> Verdict:
    """What an interval says of a difference of which so much would not matter."""
    if -least <= low and high <= least:
        return "equal"
    if low > 0:
        return "better"
    return "worse" if high < 0 else "undecided"

"""From the outcomes of runs to figures: means with intervals, and paired differences.

Two things are random: the seed of a run and the stories or pictures that are asked about. Intervals
take both into account (runs crossed with components).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from trope.errors import DataError
from trope.evaluation.comparison import compare
from trope.experiments.runs.outcome import Outcome

BOTH = {"both": ("image_to_text", "text_to_image"), "within": ("image", "text")}  # the means
SIDES = ("image_to_text", "text_to_image", "both", "image", "text", "within")

Table = Float[np.ndarray, "runs queries"]
Clusters = Int[np.ndarray, " queries"]


def described(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """All figures of one variant: by direction and modality, validation, effort."""
    about = [outcome.about for outcome in outcomes]
    return {
        **{side: mean_of(outcomes, side) for side in _sides(outcomes)},
        "validation": [(a["val_image_to_text"] + a["val_text_to_image"]) / 2 for a in about],
        "epochs": [a["epochs"] for a in about],
        "seconds": [a["seconds"] for a in about],
        "weights": [some for a in about if (some := a.get("weights"))],
    }


def whole(series: Mapping[str, Sequence[Outcome]]) -> dict[str, Any]:
    """What all runs have in common: what was asked, how often, and which code trained them."""
    runs = [outcome for outcomes in series.values() for outcome in outcomes]
    _, clusters = table(runs, "both")
    return {
        "seeds": min(map(len, series.values())),
        "images": len(runs[0].answers["image_to_text"].ids),
        "texts": len(runs[0].answers["text_to_image"].ids),
        "clusters": len(np.unique(clusters)),
        "chance": runs[0].about["chance"],
        "commits": sorted({str(run.about["commit"]) for run in runs}),
    }


def contrast(left: Sequence[Outcome], right: Sequence[Outcome], least: float) -> dict[str, Any]:
    """Left minus right in each direction, run by run with the same seed."""
    return {side: difference(left, right, side, least) for side in _sides(left)}


def _sides(outcomes: Sequence[Outcome]) -> list[str]:
    """The sides that were measured, and the means of two that were."""
    there = outcomes[0].answers.keys()
    return [side for side in SIDES if set(BOTH.get(side, (side,))) <= there]


def table(outcomes: Sequence[Outcome], side: str) -> tuple[Table, Clusters]:
    """A row for each run and a column for each query; all runs must have answered the same."""
    if side in BOTH:
        return _both(outcomes, *BOTH[side])
    found = [outcome.answers[side] for outcome in outcomes]
    if any(other.ids != found[0].ids for other in found):
        raise DataError("runs were measured on different queries; leave splits as they are")
    values = np.stack([one.values for one in found])
    counts = ~np.isnan(values).any(axis=0)  # a text without a known word has no neighbors
    return values[:, counts], found[0].clusters[counts]


def _both(outcomes: Sequence[Outcome], *sides: str) -> tuple[Table, Clusters]:
    """Queries of two sides, so that each run's mean is that of its two means.

    Deviations are taken from a side's own mean: a cluster with more queries of the easier side
    would else seem to differ from the others.
    """
    tables, clusters = zip(*(table(outcomes, side) for side in sides), strict=True)
    half = sum(found.shape[1] for found in tables) / 2
    means = [found.mean(axis=1, keepdims=True) for found in tables]
    middle = sum(means) / len(means)
    values = [
        middle + (found - mean) * (half / found.shape[1])
        for found, mean in zip(tables, means, strict=True)
    ]
    return np.concatenate(values, axis=1), np.concatenate(clusters)


def mean_of(outcomes: Sequence[Outcome], side: str) -> dict[str, Any]:
    """The mean over runs and queries with its interval, and the mean of each run."""
    values, clusters = table(outcomes, side)
    found = compare(values, np.zeros_like(values), clusters)
    each = values.mean(axis=1)
    return {
        "value": found.difference,
        "low": max(found.low, 0.0) if np.isfinite(found.low) else None,
        "high": min(found.high, 1.0) if np.isfinite(found.high) else None,
        "runs": each.tolist(),
        "spread": float(each.std(ddof=1)) if len(each) > 1 else None,
    }


def difference(
    left: Sequence[Outcome], right: Sequence[Outcome], side: str, least: float
) -> dict[str, Any]:
    """Left minus right on one side, with interval and verdict.

    Of one seed the interval is over components alone, and nothing is decided: how much seeds differ
    nobody knows.
    """
    ours, clusters = table([*left, *right], side)
    found = compare(ours[: len(left)], ours[len(left) :], clusters, least=least)
    plain = asdict(found)
    if len(left) == 1:
        plain |= {"verdict": "undecided", "detectable": np.inf}
    bounds = {name: plain[name] for name in ("low", "high", "detectable")}
    return plain | {n: bound if np.isfinite(bound) else None for n, bound in bounds.items()}

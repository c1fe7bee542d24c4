"""What an evaluation found: numbers with intervals, for programs and for people."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np
from jaxtyping import Bool, Float64, Int

from trope.evaluation.asked import refuse_other_queries
from trope.evaluation.comparison import LEAST, Comparison, compare
from trope.evaluation.intervals import Bounds, Drawn, Result, contrast, redrawn, together
from trope.evaluation.measuring import DIRECTIONS, OTHER, Measurements
from trope.evaluation.selection import Request
from trope.metrics import entry_of
from trope.metrics.recall import SUMMED
from trope.wording import counted

FEW = 10  # components, below which intervals are rough
RANKS = ("mean-rank", "median-rank")
RSUM: Bounds = (0.0, 6.0)

Results = dict[str, Result]
Compared = dict[str, dict[str, Comparison]]


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Results by direction or modality and name, over so many pictures, texts and components.

    `both` is of both directions together. `chance` is what an order by chance gives, where that is
    known; `each` has the values of the runs, where there are several; `told` says which options
    hold, `remarks` what there is to know besides.
    """

    image_to_text: Results
    text_to_image: Results
    images: int
    texts: int
    image: Results = field(default_factory=dict)
    text: Results = field(default_factory=dict)
    both: Results = field(default_factory=dict)
    components: int = 0
    chance: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    told: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    measurements: tuple[Measurements, ...] = field(default=(), repr=False)
    each: Mapping[str, Mapping[str, tuple[float, ...]]] = field(default_factory=dict)

    def document(self) -> dict[str, Any]:
        """As plain values."""
        sides = (*DIRECTIONS, "image", "text", "both")
        found: dict[str, Any] = {
            side: {name: asdict(result) for name, result in getattr(self, side).items()}
            for side in sides
        }
        counts = {"images": self.images, "texts": self.texts, "components": self.components}
        chance = {side: dict(values) for side, values in self.chance.items()}
        more = {"chance": chance, "options": list(self.told), "remarks": list(self.remarks)}
        runs = {side: dict(values) for side, values in self.each.items()}
        return found | counts | more | ({"each": runs} if runs else {})


def summarized(
    runs: Sequence[Measurements],
    wanted: Request,
    told: Sequence[str] = (),
    remarks: Sequence[str] = (),
) -> Evaluation:
    """Means over queries, and over runs where there are several, with intervals."""
    first = runs[0]
    gallery = first.gallery
    drawn = {side: _drawn(runs, side) for side in _sides(runs)}
    results = {
        side: {
            name: found.result(_bounds(first, side, name))
            for name, found in wanted.reported(values).items()
            if not math.isnan(found.value)
        }
        for side, values in drawn.items()
    }
    total = _rsum(drawn) if wanted.asks("rsum") else None
    both = {} if total is None else {"rsum": total.result(RSUM)}
    chance = {
        side: {name: value for name, value in first.chance[side].items() if name in results[side]}
        for side in first.chance
        if side in results
    }
    return Evaluation(
        results["image_to_text"],
        results["text_to_image"],
        len(gallery.images),
        len(gallery.texts),
        results.get("image", {}),
        results.get("text", {}),
        both,
        gallery.components,
        chance,
        tuple(told),
        (*remarks, *_warnings(gallery.components)),
        tuple(runs),
        {side: _each(drawn[side], found) for side, found in results.items()} if runs[1:] else {},
    )


def _each(drawn: Mapping[str, Drawn], names: Collection[str]) -> dict[str, tuple[float, ...]]:
    return {name: tuple(drawn[name].values.tolist()) for name in names}


def compared(
    left: Sequence[Measurements],
    right: Sequence[Measurements],
    wanted: Request,
    margin: float = LEAST,
) -> Compared:
    """Every result of one side's runs against the other's; `better` is what it says of the metric.

    Means by their variance, medians and sums of both directions by redrawn components.
    """
    everyone = (*left, *right)
    refuse_other_queries({f"run {n}": one.gallery for n, one in enumerate(everyone, 1)})
    found: Compared = {}
    for side in _sides(everyone):
        ours = wanted.reported(left[0].values[side])
        names = [name for name in ours if all(name in run.values[side] for run in right)]
        found[side] = {name: _compared(left, right, side, name, margin) for name in names}
    if wanted.asks("rsum"):
        sums = [_rsum({side: _drawn(runs, side) for side in DIRECTIONS}) for runs in (left, right)]
        if sums[0] is not None and sums[1] is not None:
            scale, same = RSUM[1], _same(left, right)
            total = contrast(sums[0], sums[1], margin * scale, scale, same=same)
            found["both"] = {"rsum": total}
    return found


def _compared(
    left: Sequence[Measurements],
    right: Sequence[Measurements],
    side: str,
    name: str,
    margin: float,
) -> Comparison:
    entry, scale = entry_of(name), _scale(left[0], side, name)
    if entry.over == "median":
        ours, theirs = (_drawn(runs, side, {name})[name] for runs in (left, right))
        same = _same(left, right)
        found = contrast(ours, theirs, margin * scale, scale, same=same)
    else:
        found = _of_means(left, right, side, name, (margin * scale, scale))
    if entry.better == "higher" or found.verdict not in ("better", "worse"):
        return found
    return replace(found, verdict="worse" if found.verdict == "better" else "better")


def _of_means(
    left: Sequence[Measurements],
    right: Sequence[Measurements],
    side: str,
    name: str,
    sizes: tuple[float, float],
) -> Comparison:
    """The difference of means over queries; with folds, of the means over folds."""
    least, scale = sizes
    ours = np.stack([run.values[side][name] for run in left])
    theirs = ours
    if not _same(left, right):
        theirs = np.stack([run.values[side][name] for run in right])
    clusters, folds = left[0].gallery.clusters_of(_queries(side)), _folds(left[0], side)
    counts = ~np.isnan(ours - theirs).any(axis=0)
    weights = None if folds is None else _weights(folds, counts)
    return compare(ours, theirs, clusters, least=least, scale=scale, weights=weights)


def _same(left: Sequence[Measurements], right: Sequence[Measurements]) -> bool:
    """Whether runs are compared with themselves."""
    return all(one is other for one, other in zip(left, right, strict=True))


def _weights(
    folds: Int[np.ndarray, " queries"], counts: Bool[np.ndarray, " queries"]
) -> Float64[np.ndarray, " queries"]:
    """Every fold weighs the same, and so do the queries of a fold that count."""
    sizes = np.bincount(folds[counts & (folds >= 0)], minlength=1)
    shares = np.divide(1.0, sizes, out=np.zeros(len(sizes)), where=sizes > 0)
    found = np.where(counts & (folds >= 0), shares[folds], 0.0)
    return np.asarray(found / max(np.count_nonzero(sizes), 1))


def _scale(measurements: Measurements, side: str, name: str) -> float:
    """How large a number can be: 1 for shares, the number of places for ranks."""
    if not name.startswith(RANKS):
        return 1.0
    if task := name.partition("/")[2]:
        return float(task.removesuffix("-way"))
    items = OTHER[DIRECTIONS[side]]
    if measurements.folds is None:
        return float(measurements.gallery.count(items))
    numbers = measurements.folds[items]
    return float(np.bincount(numbers[numbers >= 0]).mean())


def _bounds(measurements: Measurements, side: str, name: str) -> Bounds:
    """Between which numbers a result must lie."""
    scale = _scale(measurements, side, name)
    if not name.startswith(RANKS):
        return 0.0, scale
    return (0.0, scale - 1) if "/" in name else (1.0, scale)


def _folds(measurements: Measurements, side: str) -> Int[np.ndarray, " queries"] | None:
    """The fold of each query; modalities are looked at whole."""
    if measurements.folds is None or side not in DIRECTIONS:
        return None
    return measurements.folds[DIRECTIONS[side]]


def _drawn(
    runs: Sequence[Measurements], side: str, only: Collection[str] | None = None
) -> dict[str, Drawn]:
    """Of every run the same redrawn components."""
    first = runs[0]
    names = [name for name in first.values[side] if all(name in run.values[side] for run in runs)]
    names = [name for name in names if only is None or name in only]
    medians = {name for name in names if entry_of(name).over == "median"}
    clusters, folds = first.gallery.clusters_of(_queries(side)), _folds(first, side)
    each = [
        redrawn({name: run.values[side][name] for name in names}, clusters, medians, folds)
        for run in runs
    ]
    return {name: together([found[name] for found in each]) for name in names}


def _sides(runs: Sequence[Measurements]) -> list[str]:
    """The directions and modalities that all runs were measured in."""
    return [side for side in runs[0].values if all(side in run.values for run in runs)]


def _rsum(drawn: Mapping[str, Mapping[str, Drawn]]) -> Drawn | None:
    """Recall@1, 5 and 10 of both directions added up, where the gallery is large enough."""
    parts = [drawn[side].get(f"recall@{k}") for side in DIRECTIONS for k in SUMMED]
    known = [part for part in parts if part is not None and not math.isnan(part.value)]
    return reduce(add, known) if len(known) == len(parts) else None


def _queries(side: str) -> Any:
    return DIRECTIONS.get(side, side)


def _warnings(components: int) -> list[str]:
    if components == 1:
        return ["one component alone: intervals are over its queries, and say nothing of others"]
    if components < FEW:
        return [f"{counted(components, 'component')} alone: intervals are rough"]
    return []

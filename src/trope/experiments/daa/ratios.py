"""Table 2: every model on shares of the training captions, without and with DAA."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats

from trope.experiments.daa import Ratios
from trope.experiments.daa.measure import DIRECTIONS, RECALL, figures, gains, named
from trope.experiments.daa.published import shared_ratios
from trope.experiments.daa.ratio_figures import panels, tables
from trope.experiments.daa.ratio_page import page
from trope.experiments.daa.ready import refuse_models
from trope.experiments.daa.study import BASE, described, trained, variant
from trope.experiments.runs import Outcome, Series
from trope.experiments.runs.summary import table
from trope.experiments.spec import Findings

ASP = ("asp/cider-daa",)
DAA = "cider-daa"
Runs = dict[float, list[Sequence[Outcome]]]  # by ratio: without DAA, with it


def run(data: Path, parts: Path, settings: Ratios) -> Findings:
    """Train, compare at each ratio, and fit how gains change with it."""
    refuse_models(settings.models)
    variants = [
        variant(model, settings, kind, ratio)
        for model in settings.models
        for ratio in settings.ratios
        for kind in (BASE, DAA)
    ]
    found = trained(variants, settings, data, parts)  # as Table 1: runs on all data are the same
    models = {model: _model(found, model, settings) for model in settings.models}
    results = described(data, found, settings) | {"models": models}
    return Findings(results, tables(results), panels(results), page)


def _model(found: Series, model: str, settings: Ratios) -> dict[str, Any]:
    runs = {
        ratio: [found[variant(model, settings, kind, ratio).name] for kind in (BASE, DAA)]
        for ratio in settings.ratios
    }
    shared = {ratio: runs[ratio] for ratio in runs if ratio in shared_ratios()}
    return {
        "ratios": {
            f"{ratio:g}": {
                "base": figures(base, ASP),
                "daa": figures(better, ASP),
                "gains": gains(better, base, ASP, settings.least),
            }
            for ratio, (base, better) in runs.items()
        },
        "slopes": _slopes(runs),
        "shared_slopes": _slopes(shared) if len(shared) > 1 else {},
    }


def _slopes(runs: Runs) -> dict[str, Any]:
    return {
        way: {metric: _slope(runs, named(way, metric)) for metric in (RECALL, *ASP)}
        for way in DIRECTIONS
    }


def _slope(runs: Runs, side: str) -> dict[str, Any]:
    """How much a gain grows with a whole data set more, by a line through each seed's gains."""
    each = [
        [after - before for before, after in zip(*map(_values(side), sides), strict=True)]
        for sides in runs.values()
    ]
    return slope(list(runs), np.array(each).T)


def _values(side: str) -> Any:
    return lambda outcomes: table(outcomes, side)[0].mean(axis=1).tolist()


def slope(ratios: Sequence[float], gained: np.ndarray) -> dict[str, Any]:
    """The mean slope over seeds (rows), and its 95 % interval where there are several."""
    found = np.polyfit(np.array(ratios), gained.T, 1)[0]
    mean, low, high = float(found.mean()), None, None
    if len(found) > 1:
        reach = stats.t.ppf(0.975, len(found) - 1) * found.std(ddof=1) / np.sqrt(len(found))
        low, high = mean - float(reach), mean + float(reach)
    return {"difference": mean, "low": low, "high": high, "runs": found.tolist()}

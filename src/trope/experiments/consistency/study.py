"""The study: recipes with and without the consistency loss, watched from epoch to epoch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from trope.experiments.consistency import Consistency
from trope.experiments.consistency.page import WATCHED, page, panels, tables
from trope.experiments.runs import Outcome, Variant, contrast, train_all
from trope.experiments.runs.labels import figures
from trope.experiments.runs.measure import LabelMeasure
from trope.experiments.runs.room import refuse_small
from trope.experiments.runs.summary import whole
from trope.experiments.spec import Findings


def run(data: Path, parts: Path, settings: Consistency) -> Findings:
    """Train, compare in pairs, and describe what came out."""
    measure = LabelMeasure(cut=settings.cut)
    variants = [
        Variant(name, recipe, (*settings.sets, f"loss.consistency={eta}"))
        for recipe in settings.recipes
        for name, eta in ((recipe, 0.0), (_with(recipe), settings.eta))
    ]
    refuse_small(data, variants[0], settings.split, settings.cut)
    found = train_all(
        variants,
        settings.seeds,
        data,
        parts,
        part=settings.split,
        measure=measure,
        workers=settings.workers,
        finished=settings.finished,
    )
    results = {
        "data": data.resolve().name,
        "cut": settings.cut,
        **whole(found),
        "recipes": {name: figures(known, measure) for name, known in found.items()},
        "curves": {name: _curves(known) for name, known in found.items()},
        "comparisons": [
            {"left": _with(recipe), "right": recipe}
            | contrast(found[_with(recipe)], found[recipe], settings.least)
            for recipe in settings.recipes
        ],
    }
    return Findings(results, tables(results), panels(results), page)


def _with(recipe: str) -> str:
    return f"{recipe} + consistency"


def _curves(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """By measure the mean of all seeds after each epoch, and its range; on validation."""
    histories = [one.about["history"] for one in outcomes]
    epochs = min(map(len, histories))
    found = {}
    for name in WATCHED:
        table = np.array([[line[name] for line in known[:epochs]] for known in histories])
        found[name] = {
            "mean": table.mean(axis=0).tolist(),
            "low": table.min(axis=0).tolist(),
            "high": table.max(axis=0).tolist(),
        }
    return found

"""The study: every recipe by every seed, labels and retrieval measured query by query."""

from __future__ import annotations

from pathlib import Path

from trope.experiments.label_wise import LabelWise
from trope.experiments.label_wise.page import page, panels, tables
from trope.experiments.runs import Variant, contrast, train_all
from trope.experiments.runs.labels import figures
from trope.experiments.runs.measure import LabelMeasure
from trope.experiments.runs.room import refuse_small
from trope.experiments.runs.summary import whole
from trope.experiments.spec import Findings

OURS = "sharing"


def run(data: Path, parts: Path, settings: LabelWise) -> Findings:
    """Train, compare in pairs, and describe what came out."""
    measure = LabelMeasure(cut=settings.cut, folds=settings.folds)
    variants = [Variant(recipe, recipe, settings.sets) for recipe in settings.recipes]
    refuse_small(data, variants[0], settings.split, settings.cut, settings.folds)
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
    others = [recipe for recipe in settings.recipes if recipe != OURS and OURS in found]
    results = {
        "data": data.resolve().name,
        "cut": settings.cut,
        **whole(found),
        "recipes": {recipe: figures(known, measure) for recipe, known in found.items()},
        "comparisons": [
            {"left": OURS, "right": other} | contrast(found[OURS], found[other], settings.least)
            for other in others
        ],
    }
    return Findings(results, tables(results), panels(results), page)

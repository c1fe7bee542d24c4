"""The study: one recipe with several weights of masked prediction."""

from __future__ import annotations

from pathlib import Path

from trope.experiments.masked_weight import MaskedWeight
from trope.experiments.masked_weight.page import page, panels, tables
from trope.experiments.runs import Variant, contrast, train_all
from trope.experiments.runs.labels import figures
from trope.experiments.runs.measure import LabelMeasure
from trope.experiments.runs.room import refuse_small
from trope.experiments.runs.summary import whole
from trope.experiments.spec import Findings


def run(data: Path, parts: Path, settings: MaskedWeight) -> Findings:
    """Train, compare with the first weight, and describe what came out."""
    measure = LabelMeasure(cut=settings.cut)
    names = [f"{weight:g}" for weight in settings.weights]
    variants = [
        Variant(name, settings.recipe, (*settings.sets, f"loss.masked={weight}"))
        for name, weight in zip(names, settings.weights, strict=True)
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
        "comparisons": [
            {"left": name, "right": names[0]}
            | contrast(found[name], found[names[0]], settings.least)
            for name in names[1:]
        ],
    }
    return Findings(results, tables(results), panels(results), page)

"""The study: one recipe with many settings, measured on validation alone, paired by seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trope.errors import UsageError
from trope.experiments.runs import Series, Variant, contrast, described, train_all
from trope.experiments.runs.summary import whole
from trope.experiments.small_data import SmallData
from trope.experiments.small_data.figures import PAPERS, PRESENT, panels, tables
from trope.experiments.small_data.page import page
from trope.experiments.spec import Findings
from trope.training import load_recipe
from trope.training.small import small_changes


def run(data: Path, parts: Path, settings: SmallData) -> Findings:
    """Train, compare with the present settings, and describe what came out."""
    variants = {encoder: _variants(encoder, settings) for encoder in settings.encoders}
    found = train_all(
        [variant for known in variants.values() for variant in known],
        settings.seeds,
        data,
        parts,
        part="val",
        workers=settings.workers,
        finished=settings.finished,
    )
    encoders = {
        encoder: _encoder(found, known, encoder, settings) for encoder, known in variants.items()
    }
    results = {"data": data.resolve().name, **whole(found), "encoders": encoders}
    return Findings(results, tables(results), panels(results), page)


def _variants(encoder: str, settings: SmallData) -> list[Variant]:
    """The present settings first, then those to be tried in their place."""
    tried = settings.variants.get(encoder, {})
    if taken := {PRESENT, PAPERS} & tried.keys():
        raise UsageError(f"variants: '{taken.pop()}' is there already; choose another name")
    sets = (f"text.encoder={encoder}", *settings.sets)
    papers = [Variant(_name(PAPERS, encoder), settings.recipe, sets, "large")]
    return [
        Variant(_name(PRESENT, encoder), settings.recipe, sets, "small"),
        *(papers if settings.papers else []),
        *(
            Variant(_name(name, encoder), settings.recipe, (*sets, *changes), "small")
            for name, changes in tried.items()
        ),
    ]


def _name(name: str, encoder: str) -> str:
    return f"{name}, {encoder}"


def _encoder(
    found: Series, variants: list[Variant], encoder: str, settings: SmallData
) -> dict[str, Any]:
    """All figures of one text encoder: what is in force, and what came of every change."""
    present, *others = variants
    own = (f"text.encoder={encoder}", *settings.sets)
    return {
        "changes": small_changes(load_recipe(settings.recipe), own, 0, "small"),
        "present": described(found[present.name]),
        "variants": {
            variant.name.removesuffix(f", {encoder}"): {
                "sets": list(variant.sets[len(own) :]),
                **described(found[variant.name]),
                "gain": contrast(found[variant.name], found[present.name], settings.least),
            }
            for variant in others
        },
    }

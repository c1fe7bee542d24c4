"""The study: every recipe with every text encoder by every seed, measured query by query."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from trope.experiments.neighborhoods import Neighborhoods
from trope.experiments.neighborhoods.figures import panels, tables
from trope.experiments.neighborhoods.page import page
from trope.experiments.runs import Series, Variant, contrast, described, train_all
from trope.experiments.runs.summary import whole
from trope.experiments.spec import Findings

MODERN = "infonce"  # what everything must face
PAIRS = (
    ("neighborhoods", "angular"),
    ("neighborhoods-image", "angular"),
    ("neighborhoods-triplet", "triplet"),
    ("pvse-neighborhoods", "pvse-angular"),
    ("pvse-neighborhoods", "pvse"),
    ("pvse-neighborhoods-triplet", "pvse"),
)


def run(data: Path, parts: Path, settings: Neighborhoods) -> Findings:
    """Train, compare in pairs, and describe what came out."""
    variants = [
        Variant(_name(recipe, encoder), recipe, (f"text.encoder={encoder}", *settings.sets))
        for encoder in settings.encoders
        for recipe in settings.recipes
    ]
    found = train_all(
        variants,
        settings.seeds,
        data,
        parts,
        part=settings.split,
        workers=settings.workers,
        finished=settings.finished,
    )
    results = {
        "data": data.resolve().name,
        **whole(found),
        "encoders": {encoder: _encoder(found, encoder, settings) for encoder in settings.encoders},
    }
    return Findings(results, tables(results), panels(results), page)


def _name(recipe: str, encoder: str) -> str:
    return f"{recipe}, {encoder}"


def _encoder(found: Series, encoder: str, settings: Neighborhoods) -> dict[str, Any]:
    """All figures of one text encoder: each recipe alone, and the pairs."""
    outcomes = {recipe: found[_name(recipe, encoder)] for recipe in settings.recipes}
    return {
        "recipes": {recipe: described(known) for recipe, known in outcomes.items()},
        "comparisons": [
            {"left": left, "right": right}
            | contrast(outcomes[left], outcomes[right], settings.least)
            for left, right in _pairs(settings.recipes)
        ],
    }


def _pairs(recipes: tuple[str, ...]) -> list[tuple[str, str]]:
    """With and without neighbors, then everything against the modern baseline."""
    own = [(left, right) for left, right in PAIRS if {left, right} <= set(recipes)]
    faced = [(recipe, MODERN) for recipe in recipes if recipe != MODERN and MODERN in recipes]
    return own + faced

"""The study: every weighting with every text encoder by every seed, against the same unweighted."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from trope.experiments.complementary import (
    BASE,
    CLAIMED,
    CONTROLS,
    EVEN,
    MODERN,
    SCALED,
    Complementary,
)
from trope.experiments.complementary.figures import panels, tables
from trope.experiments.complementary.page import page
from trope.experiments.runs import Measure, Series, Variant, contrast, described, train_all
from trope.experiments.runs.room import refuse_ways
from trope.experiments.runs.summary import whole
from trope.experiments.spec import Findings


def run(data: Path, parts: Path, settings: Complementary) -> Findings:
    """Train, compare in pairs, and describe what came out."""
    variants = [
        variant for encoder in settings.encoders for variant in _variants(encoder, settings)
    ]
    refuse_ways(data, variants[0], settings.split, settings.ways)
    found = train_all(
        variants,
        settings.seeds,
        data,
        parts,
        part=settings.split,
        measure=Measure(settings.ways, kept=False),
        workers=settings.workers,
        finished=settings.finished,
    )
    results = {
        "data": data.resolve().name,
        "ways": settings.ways,
        **whole(found),
        "encoders": {encoder: _encoder(found, encoder, settings) for encoder in settings.encoders},
    }
    return Findings(results, tables(results), panels(results), page)


def _variants(encoder: str, settings: Complementary) -> list[Variant]:
    every = (f"text.encoder={encoder}", *settings.sets)
    taken = partial(Variant, rows=settings.rows, text=settings.text)
    given = [taken(_name(recipe, encoder), recipe, every) for recipe in settings.recipes]
    own = [
        taken(_name(name, encoder), BASE, (*every, *changes))
        for name, changes in settings.own.items()
    ]
    return given + own


def _name(recipe: str, encoder: str) -> str:
    return f"{recipe}, {encoder}"


def _encoder(found: Series, encoder: str, settings: Complementary) -> dict[str, Any]:
    """All figures of one text encoder: each recipe alone, and the pairs."""
    names = [*settings.recipes, *settings.own]
    outcomes = {name: found[_name(name, encoder)] for name in names}
    return {
        "recipes": {name: described(known) for name, known in outcomes.items()},
        "comparisons": [
            {"left": left, "right": right}
            | contrast(outcomes[left], outcomes[right], settings.least)
            for left, right in _pairs(names)
        ],
    }


def _pairs(names: list[str]) -> list[tuple[str, str]]:
    """All against the unweighted model, each against its controls, and what the paper claims.

    A loss of its own is held against the usual loss too.

    Controls are equal weights of the same λ or mean, and the same weights permuted or shuffled.
    """
    faced = [(name, BASE) for name in names if name not in (BASE, MODERN)]
    modern = [(name, MODERN) for name in (BASE, "hal") if {name, MODERN} <= set(names)]
    even = [(name, EVEN) for name in SCALED if {name, EVEN} <= set(names)]
    controls = [
        (name, name + control) for name in names for control in CONTROLS if name + control in names
    ]
    claimed = [pair for pair in CLAIMED if set(pair) <= set(names)]
    return modern + faced + even + controls + claimed

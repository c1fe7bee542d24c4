"""Tables and plot about neighborhoods, from the results alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trope.experiments.runs.recipes import ENCODERS, comparisons, gaps, recipes, values
from trope.experiments.runs.tables import cell
from trope.reports.plots import Panel
from trope.reports.tables import Table

Results = Mapping[str, Any]

WAYS = 5
MODALITIES = {"image": "images", "text": "texts", "within": "mean of both"}


def tables(results: Results) -> tuple[Table, ...]:
    """For each text encoder the recipes, then the pairs; recall first, then neighbors kept."""
    return tuple(
        table
        for encoder, found in results["encoders"].items()
        for table in (
            recipes(encoder, found, WAYS),
            comparisons(f"{ENCODERS[encoder]}: paired differences", found),
            _kept(ENCODERS[encoder], found, results["chance"]),
            comparisons(f"{ENCODERS[encoder]}: neighbors kept, differences", found, MODALITIES),
        )
    )


def panels(results: Results) -> tuple[Panel, ...]:
    """For each text encoder: recall of every recipe to the left, paired differences right."""
    chance = results["chance"]["image_to_text"]
    return tuple(
        panel
        for encoder, found in results["encoders"].items()
        for panel in (values(encoder, found, WAYS, chance), gaps(found, WAYS))
    )


def _kept(title: str, found: Results, chance: Results) -> Table:
    rows = [
        [recipe, *(cell(known[side]) for side in MODALITIES)]
        for recipe, known in found["recipes"].items()
    ]
    by_chance = [chance["image"], chance["text"], (chance["image"] + chance["text"]) / 2]
    rows.append(["by chance", *(f"{share:.3f}" for share in by_chance)])
    return Table(f"{title}: neighbors kept", ["recipe", *MODALITIES.values()], rows)

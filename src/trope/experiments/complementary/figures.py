"""Tables and plot about complementary pairs, from the results alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trope.experiments.runs.recipes import ENCODERS, comparisons, gaps, recipes, values
from trope.experiments.runs.tables import NONE
from trope.reports.plots import Panel
from trope.reports.tables import Table

Results = Mapping[str, Any]

UNEVEN = {
    "mean": "mean weight",
    "ess": "effective share of a batch",
    "largest": "largest weight",
    "smallest": "smallest weight",
    "deviation": "deviation of scores",
    "agreement": "images and texts",
    "steadiness": "epoch to epoch",
}


def tables(results: Results) -> tuple[Table, ...]:
    """For each text encoder the recipes, the pairs, and how uneven the weights were."""
    return tuple(
        table
        for encoder, found in results["encoders"].items()
        for table in (
            recipes(encoder, found, results["ways"]),
            comparisons(f"{ENCODERS[encoder]}: paired differences", found),
            _uneven(ENCODERS[encoder], found),
        )
    )


def panels(results: Results) -> tuple[Panel, ...]:
    """For each text encoder: recall of every recipe to the left, paired differences right."""
    ways, chance = results["ways"], results["chance"]["image_to_text"]
    return tuple(
        panel
        for encoder, found in results["encoders"].items()
        for panel in (values(encoder, found, ways, chance), gaps(found, ways))
    )


def _uneven(title: str, found: Results) -> Table:
    """Of weights of pairs; those of anchors and negatives follow from each batch."""
    weighed = {name: known for name, known in found["recipes"].items() if known["weights"]}
    noted = {name for known in weighed.values() for some in known["weights"] for name in some}
    shown = {name: head for name, head in UNEVEN.items() if name in noted}
    rows = [[name, *(_mean(known, one) for one in shown)] for name, known in weighed.items()]
    return Table(f"{title}: how uneven weights are, and why", ["recipe", *shown.values()], rows)


def _mean(known: Results, name: str) -> str:
    each = [some[name] for some in known["weights"] if name in some]
    return f"{sum(each) / len(each):.3f}" if each else NONE

"""Tables and plot about neighborhoods, from the results alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trope.experiments.runs.tables import cell, gap, points, spans, spread
from trope.reports.plots import Panel
from trope.reports.tables import Table

Results = Mapping[str, Any]

ENCODERS = {
    "sentence": "Frozen sentence features",
    "sentence-tuned": "Sentence encoder trained along",
    "gru": "GRU over words",
}
DIRECTIONS = {
    "image_to_text": "image to text",
    "text_to_image": "text to image",
    "both": "mean of both",
}


MODALITIES = {"image": "images", "text": "texts", "within": "mean of both"}


def tables(results: Results) -> tuple[Table, ...]:
    """For each text encoder the recipes, then the pairs; recall first, then neighbors kept."""
    return tuple(
        table
        for encoder, found in results["encoders"].items()
        for table in (
            _recipes(ENCODERS[encoder], found),
            _comparisons(f"{ENCODERS[encoder]}: paired differences", found, DIRECTIONS),
            _kept(ENCODERS[encoder], found, results["chance"]),
            _comparisons(f"{ENCODERS[encoder]}: neighbors kept, differences", found, MODALITIES),
        )
    )


def panels(results: Results) -> tuple[Panel, ...]:
    """For each text encoder: recall of every recipe to the left, paired differences right."""
    return tuple(
        panel
        for encoder, found in results["encoders"].items()
        for panel in (
            _values(encoder, found, results["chance"]["image_to_text"]),
            _gaps(found),
        )
    )


def _recipes(title: str, found: Results) -> Table:
    columns = ["recipe", *DIRECTIONS.values(), "seeds differ by", "validation", "s a run"]
    rows = [
        [
            recipe,
            *(cell(known[side]) for side in DIRECTIONS),
            spread(known["both"]),
            f"{_mean(known['validation']):.3f}",
            f"{_mean(known['seconds']):.0f}",
        ]
        for recipe, known in found["recipes"].items()
    ]
    return Table(f"{title}: 5-way Recall@1", columns, rows)


def _kept(title: str, found: Results, chance: Results) -> Table:
    rows = [
        [recipe, *(cell(known[side]) for side in MODALITIES)]
        for recipe, known in found["recipes"].items()
    ]
    by_chance = [chance["image"], chance["text"], (chance["image"] + chance["text"]) / 2]
    rows.append(["by chance", *(f"{share:.3f}" for share in by_chance)])
    return Table(f"{title}: neighbors kept", ["recipe", *MODALITIES.values()], rows)


def _comparisons(title: str, found: Results, sides: Mapping[str, str]) -> Table:
    """Differences on some sides; the last of them is the mean, which the verdict goes by."""
    mean = list(sides)[-1]
    rows = [
        [
            f"{pair['left']} − {pair['right']}",
            *(gap(pair[side]) for side in sides),
            points(pair[mean]["detectable"]),
            pair[mean]["verdict"],
        ]
        for pair in found["comparisons"]
    ]
    return Table(title, ["points", *sides.values(), "detectable", "verdict"], rows)


def _values(encoder: str, found: Results, chance: float) -> Panel:
    known = {recipe: values["both"] for recipe, values in found["recipes"].items()}
    return Panel(ENCODERS[encoder], "5-way Recall@1", estimates=spans(known), mark=chance)


def _gaps(found: Results) -> Panel:
    known = {f"{p['left']} − {p['right']}": p["both"] for p in found["comparisons"]}
    return Panel(
        "Paired differences", "difference in 5-way Recall@1", estimates=spans(known), mark=0.0
    )


def _mean(values: list[float]) -> float:
    return sum(values) / len(values)

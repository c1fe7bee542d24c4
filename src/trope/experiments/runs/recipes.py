"""Tables and panels of recipes that are compared, from the results of one text encoder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
SAID = {
    "better": "is better than",
    "worse": "is worse than",
    "equal": "does as well as",
    "undecided": "cannot be told from",
}


def recipes(encoder: str, found: Results, ways: int) -> Table:
    """Recall of every recipe, each way and both."""
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
    return Table(f"{ENCODERS[encoder]}: {ways}-way Recall@1", columns, rows)


def comparisons(title: str, found: Results, sides: Mapping[str, str] = DIRECTIONS) -> Table:
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


def values(encoder: str, found: Results, ways: int, chance: float) -> Panel:
    """Recall of every recipe with its interval, beside chance."""
    known = {recipe: some["both"] for recipe, some in found["recipes"].items()}
    title = f"{ways}-way Recall@1"
    return Panel(ENCODERS[encoder], title, estimates=spans(known), mark=chance)


def gaps(found: Results, ways: int) -> Panel:
    """Paired differences with their intervals, beside none."""
    known = {f"{p['left']} − {p['right']}": p["both"] for p in found["comparisons"]}
    title = f"difference in {ways}-way Recall@1"
    return Panel("Paired differences", title, estimates=spans(known), mark=0.0)


def ranking(found: Results) -> str:
    """All recipes, the best first."""
    known = {recipe: some["both"]["value"] for recipe, some in found["recipes"].items()}
    ranked = sorted(known, key=lambda recipe: -known[recipe])
    return ", ".join(f"`{recipe}` {known[recipe]:.3f}" for recipe in ranked)


def verdict(pair: Results) -> str:
    """What a comparison says, without its full stop."""
    known = pair["both"]
    sentence = f"`{pair['left']}` {SAID[known['verdict']]} `{pair['right']}`: {gap(known)} points"
    if known["verdict"] == "undecided" and known["detectable"] is not None:
        sentence += f"; a difference of {points(known['detectable'])} would have been seen"
    return sentence


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)

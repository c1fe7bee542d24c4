"""Tables and plot about measures of relevance, from the results alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trope.experiments.daa.measure import ASPS, DIRECTIONS, METRICS, RECALL
from trope.experiments.daa.published import SETTING, TABLE_1, gain_1
from trope.experiments.runs.tables import NONE, gap, points, spans
from trope.reports.plots import Panel
from trope.reports.tables import Table

Results = Mapping[str, Any]

PAPER = {
    "base": "base",
    "cider-daa": "+ CIDEr",
    "bleu": "+ BLEU",
    "rouge-daa": "+ ROUGE",
    "mean-daa": "+ all three",
}
WAYS = {"image_to_text": "image to text", "text_to_image": "text to image"}


def tables(results: Results) -> tuple[Table, ...]:
    """For each model its rows and what DAA gained; the paper's rows last."""
    own = [
        table
        for model, found in results["models"].items()
        for table in (_rows(model, found), *(_gains(model, found, way) for way in WAYS))
    ]
    return (*own, _published())


def panels(results: Results) -> tuple[Panel, ...]:
    """For each model what DAA gained on Recall@1 and on ASP by CIDEr."""
    return tuple(
        _panel(model, found, metric)
        for model, found in results["models"].items()
        for metric in (RECALL, next(iter(ASPS)))
    )


def told(kind: str) -> str:
    """A row of the tables; measures as the paper has them have its names."""
    return PAPER.get(kind, f"+ {kind}, not as in the paper")


def _columns() -> list[str]:
    short = {"image_to_text": "i2t", "text_to_image": "t2i"}
    return [f"{short[way]} {name}" for way in DIRECTIONS for name in METRICS.values()]


def _rows(model: str, found: Results) -> Table:
    rows = [
        [
            told(kind),
            *(points(known[way][metric]["value"]) for way in DIRECTIONS for metric in METRICS),
            f"{known['seconds']:.0f}",
        ]
        for kind, known in found["rows"].items()
    ]
    return Table(f"{model}: points", ["", *_columns(), "s a run"], rows)


def _gains(model: str, found: Results, way: str) -> Table:
    side = list(DIRECTIONS).index(way)
    rows = []
    for kind, known in found["gains"].items():
        rows.append([told(kind), *(gap(known[way][metric]) for metric in METRICS)])
        paper = [gain_1(kind, side, place) for place in range(len(METRICS))]
        rows.append(["paper (SGR)", *(NONE if one is None else f"{one:+.1f}" for one in paper)])
    return Table(f"{model}, {WAYS[way]}: gained by DAA", ["", *METRICS.values()], rows)


def _published() -> Table:
    rows = [
        [told(kind), *(f"{value:.1f}" for side in sides for value in side)]
        for kind, sides in TABLE_1.items()
    ]
    return Table(f"Published: {SETTING}", ["", *_columns()], rows)


def _panel(model: str, found: Results, metric: str) -> Panel:
    known = {
        f"{told(kind)}, {WAYS[way]}": gains[way][metric]
        for kind, gains in found["gains"].items()
        for way in WAYS
    }
    label = f"gained on {METRICS[metric]}"
    return Panel(model, label, estimates=spans(known), mark=0.0)

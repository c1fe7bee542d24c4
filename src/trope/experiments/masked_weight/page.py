"""Tables, plot and page about the weight of masked prediction, from the results alone."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

from trope.config import plain
from trope.experiments.masked_weight import MaskedWeight
from trope.experiments.runs.labels import WAYS, differences, named, predicted, retrieved, sentence
from trope.experiments.runs.tables import command, listed, made, points
from trope.reports.plots import Line, Panel
from trope.reports.tables import Table

Results = Mapping[str, Any]

NONE_AT = 10  # how far below the smallest weight none at all is drawn


def tables(results: Results) -> tuple[Table, ...]:
    """Labels, retrieval and differences, a row a weight."""
    ndcg = named(results["cut"])
    return (
        predicted(results["recipes"], "Predicted labels, by the weight of masked prediction"),
        retrieved(results["recipes"], "Retrieval by shared labels", "", ndcg),
        differences(results["comparisons"], ndcg),
    )


def panels(results: Results) -> tuple[Panel, ...]:
    """NDCG of both directions, and micro-F1 of both modalities, by the weight."""
    weights = [float(name) for name in results["recipes"]]
    above = [weight for weight in weights if weight > 0]
    places = [weight or min(above, default=1.0) / NONE_AT for weight in weights]
    sides = {"NDCG": WAYS, "Micro-F1": {"image": "images", "text": "texts"}}
    return tuple(
        Panel(
            title,
            "weight (leftmost: none)",
            lines=[_line(name, places, results, side) for side, name in known.items()],
            scale="log",
        )
        for title, known in sides.items()
    )


def _line(name: str, places: list[float], results: Results, side: str) -> Line:
    found = [known[side] for known in results["recipes"].values()]
    values = [one["value"] for one in found]
    low = [one["value"] if one["low"] is None else one["low"] for one in found]
    high = [one["value"] if one["high"] is None else one["high"] for one in found]
    return Line(name, places, values, low, high)


def page(results: Results) -> str:
    """The page for the docs, from everything that `results.json` holds."""
    text = resources.files(__package__).joinpath("page.md").read_text(encoding="utf-8")
    chosen = results["settings"]
    ndcg = named(results["cut"])
    return text.format(
        **results,
        made=made(results),
        command=command("masked-weight", results, plain(MaskedWeight())),
        changes=f" All runs had these changes: {listed(chosen['sets'])}." if chosen["sets"] else "",
        least=points(chosen["least"]),
        recipe=chosen["recipe"],
        split=chosen["split"],
        shows="\n".join(f"- {sentence(pair, ndcg)}" for pair in results["comparisons"]),
        tables="\n".join(table.markdown() for table in tables(results)),
    )

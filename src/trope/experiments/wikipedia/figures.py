"""Tables and plot about Wikipedia, from the results alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trope.experiments.runs.tables import NONE, cell, spans
from trope.reports.plots import Panel
from trope.reports.tables import Table

Results = Mapping[str, Any]

PUBLISHED = {"CM": (0.249, 0.196), "SM": (0.225, 0.223), "SCM": (0.277, 0.226)}
WAYS = {"image_to_text": "image query", "text_to_image": "text query"}


def tables(results: Results) -> tuple[Table, ...]:
    """Mean average precision of all methods; micro-F1 of those that predict categories."""
    rows = [
        [f"{name}, published", *(f"{value:.3f}" for value in known), _mean(known), NONE, NONE]
        for name, known in PUBLISHED.items()
    ]
    rows += [
        [f"{name}, here", *_retrieval(known), NONE, NONE]
        for name, known in results["classic"].items()
    ]
    rows += [
        [f"`{name}`", *_retrieval(known), cell(known["image"]), cell(known["text"])]
        for name, known in results["recipes"].items()
    ]
    columns = ["method", *WAYS.values(), "mean", "F1 of images", "F1 of texts"]
    return (Table("Mean average precision by category, test split", columns, rows),)


def panels(results: Results) -> tuple[Panel, ...]:
    """A panel a direction: every method with its interval; the mark is SCM as published."""
    known = {**results["classic"], **results["recipes"]}
    return tuple(
        Panel(
            title,
            "mean average precision",
            estimates=spans({name: some[way] for name, some in known.items()}),
            mark=PUBLISHED["SCM"][place],
        )
        for place, (way, title) in enumerate(WAYS.items())
    )


def _retrieval(known: Results) -> list[str]:
    both = [known[way]["value"] for way in WAYS]
    return [*(cell(known[way]) for way in WAYS), _mean(both)]


def _mean(values: Any) -> str:
    return f"{sum(values) / len(values):.3f}"

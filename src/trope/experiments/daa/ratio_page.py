"""The page about shares of the training data: what the figures say of the paper's two slopes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import resources
from typing import Any

from trope.config import plain
from trope.experiments.daa import Ratios
from trope.experiments.daa.figures import WAYS
from trope.experiments.daa.measure import RECALL
from trope.experiments.daa.page import shared, way_of
from trope.experiments.daa.ratio_figures import ASP, published_slopes, tables
from trope.experiments.runs.tables import command, gap

Results = Mapping[str, Any]


def page(results: Results) -> str:
    """The page for the docs, from everything that `results.json` holds."""
    text = resources.files(__package__).joinpath("ratio_page.md").read_text(encoding="utf-8")
    return text.format(
        **{key: value for key, value in results.items() if key != "settings"},
        **shared(results),
        command=command("data-ratio", results, plain(Ratios())),
        shows="\n".join(f"- {line}" for line in _lines(results)),
        tables="\n".join(table.markdown() for table in tables(results)),
    )


def _lines(results: Results) -> Iterator[str]:
    """For each model: both slopes in both directions, beside the paper's."""
    paper = iter(published_slopes() * len(results["models"]))
    for model, found in results["models"].items():
        for way, words in WAYS.items():
            for metric, name in ((RECALL, "R@1"), (ASP, "ASP")):
                theirs = next(paper)
                known = found["shared_slopes"] or found["slopes"]
                where = "over the paper's shares" if found["shared_slopes"] else "over all shares"
                change = known[way][metric]
                yield (
                    f"`{model}`, {words}: the gain on {name} changes by {gap(change)} points for a "
                    f"whole data set more, {where}; the paper's by {theirs:+.1f}: "
                    f"{way_of(change, theirs)}."
                )

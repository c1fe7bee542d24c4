"""The page about neighborhoods: what was trained, what the figures say, what they cannot say."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

from trope.config import plain
from trope.experiments.neighborhoods import Neighborhoods
from trope.experiments.neighborhoods.figures import tables
from trope.experiments.runs.recipes import ENCODERS, ranking, verdict
from trope.experiments.runs.tables import command, gap, listed, made, points

Results = Mapping[str, Any]

PVSE = """\
- `pvse` learns by the triplet loss, as its paper does, and `pvse-neighborhoods` by the angular
  loss, as paper 004 does: that pair differs in both the loss and the neighbors.
"""


def page(results: Results) -> str:
    """The page for the docs, from everything that `results.json` holds."""
    text = resources.files(__package__).joinpath("page.md").read_text(encoding="utf-8")
    pairs = [pair for found in results["encoders"].values() for pair in found["comparisons"]]
    return text.format(
        **results,
        made=made(results),
        command=command("neighborhoods", results, plain(Neighborhoods())),
        by_chance=results["chance"]["image_to_text"],
        least=points(results["settings"]["least"]),
        comparisons=2 * len(pairs),  # of recall, and of neighbors kept
        changes=_changes(results["settings"]["sets"]),
        pvse=PVSE if "pvse" in results["settings"]["recipes"] else "",
        held=_held(results["settings"]["split"]),
        shows=_shows(results),
        tables="\n".join(table.markdown() for table in tables(results)),
    )


def _changes(sets: list[str]) -> str:
    return f" All runs had these changes: {listed(sets)}." if sets else ""


def _held(split: str) -> str:
    if split == "val":
        return (
            "**Measured on the validation split**, on which the best epoch was chosen too: good "
            "for choosing between settings, too high as a figure."
        )
    return (
        "The test split had no part in any choice: epochs and settings were chosen on validation."
    )


def _shows(results: Results) -> str:
    """Sentences that follow from the figures, whatever these are."""
    return "\n\n".join(
        f"**{ENCODERS[encoder]}**\n\n" + "\n".join(f"- {line}" for line in _lines(found))
        for encoder, found in results["encoders"].items()
    )


def _lines(found: Results) -> list[str]:
    order = f"Recall@1, mean of both ways: {ranking(found)}."
    return [order, *(f"{verdict(pair)}. {_kept(pair)}" for pair in found["comparisons"])]


def _kept(pair: Results) -> str:
    return f"Neighbors kept: {gap(pair['within'])} points, {pair['within']['verdict']}."

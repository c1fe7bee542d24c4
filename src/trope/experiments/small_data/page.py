"""The page about settings for small data: why they are what they are."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

from trope.config import plain
from trope.experiments.runs.recipes import ENCODERS
from trope.experiments.runs.tables import command, gap, listed, made, points
from trope.experiments.small_data import SmallData
from trope.experiments.small_data.figures import ranked, tables

Results = Mapping[str, Any]


def page(results: Results) -> str:
    """The page for the docs, from everything that `results.json` holds."""
    text = resources.files(__package__).joinpath("page.md").read_text(encoding="utf-8")
    return text.format(
        **results,
        made=made(results),
        command=command("small-data", results, plain(SmallData())),
        by_chance=results["chance"]["image_to_text"],
        recipe=results["settings"]["recipe"],
        least=points(results["settings"]["least"]),
        shows=_shows(results),
        tables="\n".join(table.markdown() for table in tables(results)),
    )


def _shows(results: Results) -> str:
    """Sentences that follow from the figures, whatever these are."""
    return "\n\n".join(
        f"**{ENCODERS[encoder]}**\n\n" + "\n".join(f"- {line}" for line in _lines(found))
        for encoder, found in results["encoders"].items()
    )


def _lines(found: Results) -> list[str]:
    present = found["present"]["both"]["value"]
    lines = [f"In force on small data: {listed(found['changes'])}. Recall@1 {present:.3f}."]
    for verdict, told in {
        "better": "Better than these",
        "worse": "Worse",
        "equal": "As good",
        "undecided": "Not told apart",
    }.items():
        tried = [
            f"{name} ({gap(known['gain']['both'])})"
            for name, known in ranked(found).items()
            if known["gain"]["both"]["verdict"] == verdict
        ]
        if tried:
            lines.append(f"{told}: {'; '.join(tried)}.")
    return lines

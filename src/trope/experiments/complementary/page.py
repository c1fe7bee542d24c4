"""The page about complementary pairs: what was trained, what the figures say, what they cannot."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import resources
from typing import Any

from trope.config import plain
from trope.experiments.complementary import Complementary
from trope.experiments.complementary.figures import tables
from trope.experiments.runs.recipes import ENCODERS, ranking, verdict
from trope.experiments.runs.tables import command, listed, made, points

Results = Mapping[str, Any]


def page(results: Results) -> str:
    """The page for the docs, from everything that `results.json` holds."""
    text = resources.files(__package__).joinpath("page.md").read_text(encoding="utf-8")
    settings = results["settings"]
    pairs = [pair for found in results["encoders"].values() for pair in found["comparisons"]]
    return text.format(
        **results,
        asked=results["data"] + (f" ({settings['text']})" if settings["text"] else ""),
        made=made(results),
        command=command("complementary", results, plain(Complementary())),
        split=settings["split"],
        by_chance=results["chance"]["image_to_text"],
        others=results["ways"] - 1,
        least=points(settings["least"]),
        comparisons=len(pairs),
        taken=_taken(settings["rows"], settings["text"]),
        changes=_changes(settings["sets"]),
        own=_own(settings["own"]),
        shows=_shows(results),
        tables="\n".join(table.markdown() for table in tables(results)),
    )


def _taken(rows: int, text: str) -> str:
    told = f" Texts are those of the column `{text}`, and splits made for them." if text else ""
    return told + (f" Of the training rows {rows:,} were taken." if rows else "")


def _changes(sets: list[str]) -> str:
    return f" All runs had these changes: {listed(sets)}." if sets else ""


def _own(own: Mapping[str, list[str]]) -> str:
    if not own:
        return ""
    named = "; ".join(f"*{name}*: {listed(changes)}" for name, changes in own.items())
    return f"\n- **Our own.** Changes of `pvse` that no paper has: {named}."


def _shows(results: Results) -> str:
    """Sentences that follow from the figures, whatever these are."""
    return "\n\n".join(
        f"**{ENCODERS[encoder]}**\n\n" + "\n".join(f"- {line}" for line in _lines(found))
        for encoder, found in results["encoders"].items()
    )


def _lines(found: Results) -> list[str]:
    pairs = found["comparisons"]
    return [
        f"Recall@1, mean of both ways: {ranking(found)}.",
        *(f"{verdict(pair)}." for pair in pairs),
        _counted(pairs),
    ]


def _counted(pairs: list[Results]) -> str:
    """How the verdicts are spread: what chance alone would bring is easily forgotten."""
    said = [pair["both"]["verdict"] for pair in pairs]
    counts = ", ".join(f"{said.count(name)} {name}" for name in dict.fromkeys(sorted(said)))
    return f"Of {len(pairs)} comparisons: {counts}."

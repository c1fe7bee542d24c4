"""Tables and plot about wrong pairs, from the results alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trope.experiments.runs.tables import NONE, cell, spans
from trope.experiments.wrong_pairs import PLAIN, SCORES
from trope.reports.plots import Panel
from trope.reports.tables import Table

Results = Mapping[str, Any]

SWAPS = {
    "random": "Swapped at random",
    "near": "Swapped with a text that means alike",
    "within": "Swapped within a group",
}
SHORT = {"random": "At random", "near": "Texts that mean alike", "within": "Within a group"}
COLUMNS = {
    "ap": "average precision",
    "precision": "precision",
    "recall@5%": "recall at 5 %",
    "recall@10%": "at 10 %",
    "recall@20%": "at 20 %",
}


def tables(results: Results) -> tuple[Table, ...]:
    """One for each kind of swap."""
    return tuple(_table(SWAPS[swap], known) for swap, known in results["swaps"].items())


def panels(results: Results) -> tuple[Panel, ...]:
    """Average precision of every score, with that of chance."""
    return tuple(
        Panel(
            SHORT[swap],
            "average precision",
            estimates=spans({SCORES[s]: v["ap"] for s, v in known["scores"].items()}),
            mark=known["chance"]["ap"],
        )
        for swap, known in results["swaps"].items()
    )


def signed(known: Results) -> str:
    """A difference in points, with its interval."""
    value = f"{100 * known['value']:+.1f}"
    if known["low"] is None:
        return value
    return f"{value} ({100 * known['low']:+.1f} to {100 * known['high']:+.1f})"


def comparable(first: str, score: str) -> bool:
    """Whether two scores do not differ in the pair's vote, or in nothing else."""
    return (
        (first in PLAIN) == (score in PLAIN)
        or f"{first}-plain" == score
        or f"{score}-plain" == first
    )


def _table(title: str, known: Results) -> Table:
    first = next(iter(known["scores"]))
    rows = [
        [
            SCORES[score],
            cell(found["ap"]),
            signed(found["gain"]) if score != first and comparable(first, score) else NONE,
            *(f"{found[name]['value']:.3f}" for name in list(COLUMNS)[1:]),
        ]
        for score, found in known["scores"].items()
    ]
    chance = known["chance"]
    rows.append(
        ["by chance", f"{chance['ap']:.3f}", NONE]
        + [f"{chance[name]:.3f}" for name in list(COLUMNS)[1:]]
    )
    names = list(COLUMNS.values())
    columns = ["score", names[0], f"points from {first}", *names[1:]]
    return Table(f"{title}: {known['swapped']:,} pairs", columns, rows)

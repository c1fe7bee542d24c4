"""Tables and plot about settings for small data, from the results alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trope.experiments.runs.recipes import ENCODERS
from trope.experiments.runs.tables import cell, gap, listed, points, spans, spread
from trope.reports.plots import Panel
from trope.reports.tables import Table

Results = Mapping[str, Any]

PRESENT, PAPERS = "small-data settings", "the papers' settings"


def tables(results: Results) -> tuple[Table, ...]:
    """For each text encoder what came of every change, the best first, and what it changes."""
    return tuple(
        table
        for encoder, found in results["encoders"].items()
        for table in (_gains(ENCODERS[encoder], found), _changes(ENCODERS[encoder], found))
    )


def panels(results: Results) -> tuple[Panel, ...]:
    """For each text encoder the paired differences from the present settings."""
    return tuple(_panel(encoder, found) for encoder, found in results["encoders"].items())


def ranked(found: Results) -> dict[str, Results]:
    """What was tried, the best first."""
    tried = found["variants"]
    return dict(sorted(tried.items(), key=lambda item: -item[1]["both"]["value"]))


def _gains(title: str, found: Results) -> Table:
    columns = ["settings", "Recall@1", "seeds differ by", "points gained", "detectable"]
    rows = [_row(PRESENT, found["present"])]
    rows += [_row(name, known, known["gain"]["both"]) for name, known in ranked(found).items()]
    title = f"{title}: 5-way Recall@1 on validation, mean of both ways"
    return Table(title, [*columns, "verdict", "s a run"], rows)


def _row(name: str, known: Results, gain: Results | None = None) -> list[str]:
    told = [gap(gain), points(gain["detectable"]), gain["verdict"]] if gain else ["", "", ""]
    seconds = sum(known["seconds"]) / len(known["seconds"])
    return [name, cell(known["both"]), spread(known["both"]), *told, f"{seconds:.0f}"]


def _changes(title: str, found: Results) -> Table:
    rows = [[PRESENT, f"of the papers' settings: {listed(found['changes'])}"]]
    rows += [[name, listed(known["sets"])] for name, known in ranked(found).items()]
    return Table(f"{title}: what is changed", ["settings", "changes"], rows)


def _panel(encoder: str, found: Results) -> Panel:
    gains = {name: known["gain"]["both"] for name, known in ranked(found).items()}
    label = "difference in 5-way Recall@1"
    return Panel(ENCODERS[encoder], label, estimates=spans(gains), mark=0.0)

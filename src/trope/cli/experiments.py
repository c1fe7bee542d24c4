"""`trope experiments`: what `trope experiment` can make."""

from __future__ import annotations

from typing import Annotated

import typer

from trope import config
from trope.cli.output import print_json, say, table
from trope.experiments import EXPERIMENTS, Experiment


def command(
    json: Annotated[
        bool, typer.Option("--json", help="One JSON document instead of a table.")
    ] = False,
) -> None:
    """List the experiments, with the paper each comes from."""
    if json:
        print_json([_document(*item) for item in EXPERIMENTS.items()])
    else:
        rows = [[name, e.title, e.paper] for name, e in EXPERIMENTS.items()]
        table("", ["experiment", "what it answers", "paper"], rows)
        for name, experiment in EXPERIMENTS.items():
            say(f"{name} needs {experiment.data}", style="dim")


def _document(name: str, experiment: Experiment) -> dict[str, object]:
    return {
        "name": name,
        "title": experiment.title,
        "paper": experiment.paper,
        "data": experiment.data,
        "settings": config.plain(experiment.settings()),
    }

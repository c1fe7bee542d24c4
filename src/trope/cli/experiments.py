"""`trope experiments`: what `trope experiment` can make."""

from __future__ import annotations

from trope.cli.listing import documents
from trope.cli.options import Json
from trope.cli.output import print_json, say, table
from trope.experiments import EXPERIMENTS


def command(json: Json = False) -> None:
    """List the experiments, with the paper each comes from."""
    if json:
        print_json(documents(EXPERIMENTS, "title", "paper", "data"))
    else:
        rows = [[name, e.title, e.paper] for name, e in EXPERIMENTS.items()]
        table("", ["experiment", "what it answers", "paper"], rows)
        for name, experiment in EXPERIMENTS.items():
            say(f"{name} needs {experiment.data}", style="dim")

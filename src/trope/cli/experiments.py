"""`trope experiments`: what `trope experiment` can make, and by which settings."""

from __future__ import annotations

import inspect
from typing import Annotated

import orjson
import typer

from trope import config
from trope.cli.listing import documents
from trope.cli.options import Json
from trope.cli.output import print_json, say, table
from trope.errors import UsageError, suggestion
from trope.experiments import EXPERIMENTS, Experiment


def command(
    name: Annotated[
        str | None, typer.Argument(help="One of them, to see its settings.", show_default=False)
    ] = None,
    json: Json = False,
) -> None:
    """List the experiments, with the paper each comes from; or the settings of one."""
    if name is not None and name not in EXPERIMENTS:
        raise UsageError(f"no experiment '{name}'{suggestion(name, list(EXPERIMENTS))}")
    chosen = EXPERIMENTS if name is None else {name: EXPERIMENTS[name]}
    if json:
        print_json(documents(chosen, "title", "paper", "data"))
    elif name is not None:
        _one(name, EXPERIMENTS[name])
    else:
        rows = [[each, e.title, e.paper] for each, e in EXPERIMENTS.items()]
        table("", ["experiment", "what it answers", "paper"], rows)
        for each, experiment in EXPERIMENTS.items():
            say(f"{each} needs {experiment.data}", style="dim")
        say("The settings of one: trope experiments NAME", style="dim")


def _one(name: str, experiment: Experiment) -> None:
    """Its settings with their defaults, and what they mean."""
    say(f"{experiment.title} {experiment.paper}. It needs {experiment.data}.")
    defaults = config.plain(experiment.settings())
    shown = [[key, orjson.dumps(value).decode()] for key, value in defaults.items()]
    if shown:
        table("", ["setting", "default"], shown)
    for kind in reversed(experiment.settings.__mro__[:-1]):
        say(inspect.cleandoc(kind.__doc__ or ""))
    if shown:
        say(f"Change one: trope experiment {name} … --set {shown[0][0]}=…", style="dim")

"""`trope formats`: the official layouts that can be converted."""

from __future__ import annotations

import dataclasses
from typing import Annotated

import typer

from trope.cli.listing import documents
from trope.cli.options import Json
from trope.cli.output import print_json, say, table
from trope.data.convert import FORMATS, Format
from trope.errors import UsageError, suggestion


def command(
    name: Annotated[str | None, typer.Argument(help="Show one layout in full.")] = None,
    json: Json = False,
) -> None:
    """List the layouts `trope convert` reads, with the paper each comes from."""
    if name is not None and name not in FORMATS:
        raise UsageError(f"no format '{name}'{suggestion(name, FORMATS)}")
    chosen = {name: FORMATS[name]} if name else FORMATS
    if json:
        print_json(documents(chosen, "about", "paper", "layout", "becomes"))
    elif name:
        _show(name, FORMATS[name])
    else:
        table(
            "",
            ["format", "what it is", "paper"],
            [[n, f.about, f.paper] for n, f in chosen.items()],
        )
        say("`trope formats NAME` shows the expected layout", style="dim")


def _show(name: str, format: Format) -> None:
    say(f"{name}: {format.about}", style="bold")
    say(format.paper)
    say(f"\n{format.layout.strip()}\n")
    say(format.becomes)
    for option in dataclasses.fields(format.settings):
        say(f"--set {option.name}=…   default {option.default!r}")

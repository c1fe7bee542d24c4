"""`trope experiment`: a table or figure of a paper, made again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import orjson
import typer

from trope.cli.options import Json, Sets
from trope.cli.output import print_json, say, table
from trope.experiments import run


def command(
    name: Annotated[str, typer.Argument(help="Which; `trope experiments` lists them.")],
    data: Annotated[Path, typer.Option("--data", help="The folder of data it needs.")],
    out: Annotated[
        Path, typer.Option("--out", help="For tables, plot and page; keeps to its settings.")
    ],
    seeds: Annotated[
        int | None, typer.Option("--seeds", min=1, help="How often each is done; as --set seeds=.")
    ] = None,
    json: Json = False,
    sets: Sets = None,
) -> None:
    """Make a table or figure of a paper; a run that was stopped goes on where it was."""
    often = [] if seeds is None else [f"seeds={seeds}"]
    findings = run(name, data, out, sets=[*(sets or ()), *often])
    if json:
        print_json(orjson.loads((out / "results.json").read_bytes()))
        return
    for made in findings.tables:
        table(made.title, made.columns, made.rows)
        say("")
    say(f"{out}: results.json, table.md, {name}.md, {name}.png and {name}.svg", style="bold")

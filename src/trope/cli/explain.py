"""`trope explain`: what means alike in a data set, and whether it looks alike."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import trope
from trope import config
from trope.cli.options import Config, Json, Sets
from trope.cli.output import print_json, say, table
from trope.explain import ExplainSettings, explain
from trope.explain.findings import Findings


def command(
    data: Annotated[Path, typer.Option("--data", help="A folder or table of image-text pairs.")],
    out: Annotated[Path, typer.Option("--out", help="A new folder for the page.")],
    ids: Annotated[
        list[str] | None,
        typer.Option("--pair", metavar="ID", help="A pair to explain; may be given again."),
    ] = None,
    k: Annotated[
        int | None, typer.Option("-k", help="Neighbors of each pair.", show_default="12")
    ] = None,
    space: Annotated[
        str | None,
        typer.Option("--space", help="doc2vec or sentence: where texts are compared."),
    ] = None,
    recall: Annotated[
        bool, typer.Option("--recall", help="Measure HNSW neighbors against exact ones.")
    ] = False,
    json: Json = False,
    config_file: Config = None,
    sets: Sets = None,
) -> None:
    """Show pairs with their neighbors in meaning, and which of these look alike."""
    given = {"k": k, "space": space}
    changes = [f"{name}={value}" for name, value in given.items() if value is not None]
    settings = config.load(ExplainSettings, config_file, [*(sets or ()), *changes])
    found, document = explain(trope.open(data), out, settings, ids or (), recall=recall)
    if json:
        print_json(document)
    else:
        _show(found, out)


def _show(found: Findings, out: Path) -> None:
    say(f"{found.data}, texts in the space {found.space}. {found.lead}", style="bold")
    say(found.rule, style="dim")
    if found.agree:
        name, agree = found.agree
        say(f"{agree.value:.1%} of them agree in {name}, {agree.chance:.1%} by chance")
    if found.recall_line:
        say(found.recall_line)
    for remark in found.remarks:
        say(remark, style="yellow")
    if rows := [[pair.id, len(pair.neighbors), pair.alike] for pair in found.pairs]:
        table("", ["pair", "neighbors", "look alike"], rows)
    say(f"The page: {out / 'index.html'}; its numbers: {out / 'neighbors.json'}")

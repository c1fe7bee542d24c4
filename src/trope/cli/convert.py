"""`trope convert`: an official layout as a Trope data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trope.cli.options import Json, Sets
from trope.cli.output import print_json, say, table
from trope.data.convert import Conversion, convert
from trope.wording import counted


def command(
    format: Annotated[str, typer.Argument(help="The layout; `trope formats` lists them.")],
    source: Annotated[Path, typer.Argument(help="The folder that holds the official files.")],
    out: Annotated[Path, typer.Argument(help="The new data set.")],
    json: Json = False,
    sets: Sets = None,
) -> None:
    """Turn the official files of a public data set into a data set of Trope."""
    report = convert(format, source, out, sets=sets or ())
    if json:
        print_json(report.document())
    else:
        _show(report, out)


def _show(report: Conversion, out: Path) -> None:
    say(
        f"{out}: {counted(report.rows, 'row')}, {counted(report.images, 'image')}, "
        f"{counted(report.texts, 'text')}",
        style="bold",
    )
    table("", ["split", "rows"], list(report.splits.items()))
    if report.missing:
        total = report.missing.total()
        say(
            f"{counted(total, 'item')} could not be converted: see {out / 'missing.jsonl'}",
            style="yellow",
        )
        table("", ["reason", "items"], report.missing.most_common())

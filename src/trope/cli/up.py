"""`trope up`: the whole job for a folder of your own."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trope import config
from trope.cli.options import Config, Sets


def command(
    data: Annotated[Path, typer.Argument(help="A folder or table of image-text pairs.")],
    out: Annotated[
        Path | None, typer.Option("--out", help="Where results go; by default beside the data.")
    ] = None,
    config_file: Config = None,
    sets: Sets = None,
    serve: Annotated[
        bool | None,
        typer.Option("--serve/--no-serve", help="Open the page; by default in a terminal alone."),
    ] = None,
) -> None:
    """Check a data set, train on it, index it, try a few searches, and open the page."""
    from trope.cli.demo import show_searches, show_up
    from trope.cli.page import open_page, refuse_page
    from trope.pipeline import Up, up

    refuse_page(serve)
    place = out or data.resolve().with_name(f"{data.resolve().stem}-trope")
    done = up(data, place, config.load(Up, config_file, sets or ()))
    show_up(done)
    show_searches(done.searches, done.index)
    open_page(done.index, serve)

"""`trope serve`: the search page and its API."""

from __future__ import annotations

import webbrowser
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trope.cli.output import say
from trope.runtime import remark

if TYPE_CHECKING:
    from trope.web.settings import ServeSettings


def command(
    index: Annotated[Path, typer.Argument(help="The folder of an index.")],
    other: Annotated[
        Path | None, typer.Argument(metavar="[INDEX2]", help="Another, to compare with.")
    ] = None,
    host: Annotated[
        str, typer.Option("--host", help="The address to listen on; by default this machine's own.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", help="0 for any that is free.")] = 8600,
    token: Annotated[
        str,
        typer.Option(
            "--token", envvar="TROPE_TOKEN", help="What whoever opens the page must know."
        ),
    ] = "",
    allow: Annotated[
        list[str] | None,
        typer.Option("--allow-host", metavar="NAME", help="A name the page is known by."),
    ] = None,
    marks: Annotated[
        Path | None,
        typer.Option("--marks", metavar="FILE", help="Where marks go; by default in the index."),
    ] = None,
    explain: Annotated[
        list[Path] | None,
        typer.Option("--explain", metavar="DIR", help="What `trope explain` wrote."),
    ] = None,
    data: Annotated[
        list[Path] | None,
        typer.Option("--data", metavar="DATA", help="Where a data set is that was moved."),
    ] = None,
    rate: Annotated[
        float, typer.Option("--rate", help="Searches a second for each address; 0 for any number.")
    ] = 50.0,
    browse: Annotated[
        bool, typer.Option("--open", help="Open the page in a browser, where there is one.")
    ] = False,
) -> None:
    """Open a page to search with words and pictures, and its API."""
    from trope.web.serving import refuse_missing
    from trope.web.settings import ServeSettings

    refuse_missing()
    folders = (index,) if other is None else (index, other)
    settings = ServeSettings(host, port, token, tuple(allow or ()), rate)
    run(folders, settings, browse, marks, tuple(explain or ()), tuple(data or ()))


def run(
    indexes: tuple[Path, ...],
    settings: ServeSettings,
    browse: bool = False,
    marks: Path | None = None,
    explain: tuple[Path, ...] = (),
    data: tuple[Path, ...] = (),
) -> None:
    """Serve until Ctrl-C, and say where."""
    from trope.web.service import Places
    from trope.web.serving import serve

    def ready(chosen: ServeSettings, problems: list[str]) -> None:
        for problem in problems:
            remark(f"pictures cannot be shown: {problem}")
        if problems:
            remark("--data DATA names a data set that was moved.")
        _tell(chosen)
        if browse:
            webbrowser.open(chosen.url)

    serve(Places(indexes, explain, marks, data), settings, ready)
    say("stopped")


def _tell(settings: ServeSettings) -> None:
    say(f"The page is at {settings.url} (Ctrl-C ends it)")
    if settings.local:
        say("Only this machine can reach it; --host 0.0.0.0 lets others, best with --token.")
    elif settings.token:
        remark(f"Everyone who can reach {settings.host} and knows the token can search.")
    else:
        remark(f"Everyone who can reach {settings.host} can search; --token asks for a token.")
    if not settings.local:
        remark("It answers under its addresses; --allow-host NAME adds a name it is known by.")

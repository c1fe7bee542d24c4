"""`trope export`: files that other programs use."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from trope.cli.output import say
from trope.errors import UsageError, suggestion

WHAT = ("vectors", "onnx", "repository", "fetch", "publish")


def command(
    what: Annotated[str, typer.Argument(help="vectors, onnx, repository, fetch or publish.")],
    source: Annotated[str, typer.Argument(help="An index (vectors), a run, or a repository.")],
    out: Annotated[str, typer.Argument(help="The file or folder to write; publish: user/model.")],
    download: Annotated[
        bool, typer.Option("--download", help="fetch: ask the network for SOURCE.")
    ] = False,
) -> None:
    """Write vectors as Parquet or NumPy, a model as ONNX, or a run as a model repository."""
    from trope import export

    if what not in WHAT:
        raise UsageError(f"export: nothing called '{what}'{suggestion(what, WHAT)}")
    if download and what != "fetch":
        raise UsageError("--download goes with fetch")
    if what == "vectors":
        say(f"{out}: {export.export_vectors(Path(source), Path(out)):,} items")
    elif what == "onnx":
        files = export.export_onnx(Path(source), Path(out))
        say(f"{out}: {', '.join(file.name for file in files)}")
    elif what == "repository":
        say(f"{export.write_repository(Path(source), Path(out))}: a model repository")
    elif what == "fetch":
        say(f"{export.fetch(source, Path(out), download=download)}: can be used like a run")
    else:
        export.publish(Path(source), out)
        say(f"{source}: published as {out}")

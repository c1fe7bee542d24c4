"""The command `trope`: thin commands over the package, one file each."""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from pathlib import Path

import typer

from trope.cli import (
    check,
    convert,
    demo,
    evaluate,
    experiment,
    experiments,
    explain,
    export,
    formats,
    index,
    metrics,
    recipes,
    search,
    serve,
    train,
    up,
)
from trope.errors import DISK, TropeError
from trope.runtime import version

INTERRUPTED = 130

app = typer.Typer(
    name="trope",
    help="Image-text retrieval when the text does not describe the image.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command("demo")(demo.command)
app.command("up")(up.command)
app.command("check")(check.command)
app.command("convert")(convert.command)
app.command("formats")(formats.command)
app.command("recipes")(recipes.command)
app.command("train")(train.command)
app.command("evaluate")(evaluate.command)
app.command("metrics")(metrics.command)
app.command("index")(index.command)
app.command("search")(search.command)
app.command("serve")(serve.command)
app.command("export")(export.command)
app.command("explain")(explain.command)
app.command("experiment")(experiment.command)
app.command("experiments")(experiments.command)


def _print_version(wanted: bool) -> bool:
    if wanted:
        sys.stdout.write(f"trope {version()}\n")
        raise typer.Exit
    return wanted


@app.callback()
def _options(
    show: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Image-text retrieval when the text does not describe the image."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command; what a user can cause ends as one line on standard error."""
    try:
        code = _run(arguments)
        sys.stdout.flush()  # while it can still be told that nobody takes it
        if code == INTERRUPTED:
            _stop("stopped; run the same command again to go on", code)
        sys.exit(code)
    except TropeError as error:
        _stop(str(error), error.exit_code)
    except BrokenPipeError:
        _forget_output()
        sys.exit(1)
    except Exception as error:
        if isinstance(error, OSError) and error.errno in DISK and error.filename is None:
            _forget_output()  # whatever else is written tells its name
            _stop(f"cannot write to standard output: {error.strerror}", 1)
        if hasattr(error, "format_message"):  # typer's word for a wrong command line
            _stop(f"{error.format_message()} (see {_help_of(error)})", 2)
        _stop(_defect(error), 1)


def _run(arguments: Sequence[str] | None) -> int:
    command = typer.main.get_command(app)
    given = None if arguments is None else list(arguments)
    code = command.main(args=given, prog_name="trope", standalone_mode=False)
    return int(code or 0)  # Ctrl-C comes back as a code too


def _forget_output() -> None:
    """Drop what was not written, or Python would try again at the very end, and complain."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _defect(error: Exception) -> str:
    """A defect of ours: said so in one line, with the details on request."""
    if os.environ.get("TROPE_TRACEBACK"):
        traceback.print_exc()
    last = traceback.extract_tb(error.__traceback__)[-1]
    where = f"{Path(last.filename).name}:{last.lineno}"
    what = f"{type(error).__name__} at {where}: {error}"
    return f"defect in trope ({what}); set TROPE_TRACEBACK=1 for the details"


def _help_of(error: Exception) -> str:
    context = getattr(error, "ctx", None)
    return f"`{context.command_path if context else 'trope'} --help`"


def _stop(message: str, code: int) -> None:
    sys.stderr.write(f"trope: {' '.join(message.split())}\n")
    sys.exit(code)

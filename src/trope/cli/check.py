"""`trope check`: what is wrong with a data set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated

import typer

import trope
from trope import config
from trope.cli.options import Config, Json, Sets
from trope.cli.output import print_json, say, table
from trope.data.check import KINDS, CheckSettings, Report, check, fix, refuse_inside
from trope.data.pairs import Pairs
from trope.data.splits import SplitPlan, split
from trope.errors import UsageError
from trope.files import refuse_existing
from trope.wording import counted


@dataclass(frozen=True)
class _Settings(CheckSettings):
    """What is looked at, and what the columns are called in the file."""

    columns: dict[str, str] = field(default_factory=dict)


def command(
    data: Annotated[Path, typer.Argument(help="A folder or table of image-text pairs.")],
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    fix_to: Annotated[
        Path | None,
        typer.Option(
            "--fix", metavar="OUT", help="Write the good rows there, the rest to rejected.jsonl."
        ),
    ] = None,
    json: Json = False,
    examples: Annotated[int, typer.Option(min=0, help="Findings shown of each kind.")] = 3,
    columns: Annotated[
        list[str] | None,
        typer.Option("--column", metavar="K=NAME", help="What a column is called: text=headline."),
    ] = None,
    config_file: Config = None,
    sets: Sets = None,
) -> None:
    """Say what is wrong with a data set. Errors exit 1; warnings exit 0 unless --strict."""
    settings = config.load(_Settings, config_file, sets or ())
    settings = replace(settings, columns=settings.columns | _mapping(columns or ()))
    if fix_to:
        refuse_existing(fix_to)
        refuse_inside(data, fix_to)
        if not settings.images:
            raise UsageError("--fix sorts out broken pictures and cannot go with images=false")
    pairs = trope.open(data, collect=True, columns=settings.columns)
    report = check(pairs, settings)
    fixed = fix(pairs, report, fix_to) if fix_to else None
    if json:
        print_json(_document(report, fixed, examples))
    else:
        _show(pairs, report, examples)
        if fixed:
            say(f"{fix_to}: {counted(fixed[0], 'row')} kept, {fixed[1]:,} rejected with reasons")
    if report.count("error") or (strict and report.count("warning")):
        raise typer.Exit(1)


def _mapping(options: Iterable[str]) -> dict[str, str]:
    """What `--column` says, taken literally: a name may have blanks at its ends, or a dot."""
    columns: dict[str, str] = {}
    for option in options:
        meaning, _, name = option.partition("=")
        if not meaning or not name:
            raise UsageError(f"--column {option}: write it as {meaning or 'text'}=NAME")
        if meaning in columns:
            raise UsageError(f"--column {option}: '{meaning}' is '{columns[meaning]}' already")
        columns[meaning] = name
    return columns


def _document(report: Report, fixed: tuple[int, int] | None, examples: int) -> dict[str, object]:
    return report.document(examples) | (
        {"fixed": {"kept": fixed[0], "rejected": fixed[1]}} if fixed else {}
    )


def _show(pairs: Pairs, report: Report, examples: int) -> None:
    errors, warnings = report.count("error"), report.count("warning")
    say(
        f"{report.data}: {counted(report.rows, 'row')}, {report.usable:,} usable; "
        f"{counted(errors, 'error')}, {counted(warnings, 'warning')}",
        style="bold red" if errors else "bold yellow" if warnings else "bold green",
    )
    for code, found in report.by_code().items():
        kind = KINDS[code]
        say(f"{kind.severity} {code}: {kind.meaning} ({len(found):,})")
        for problem in found[:examples]:
            where = f"{report.unit} {problem.line}" if problem.line else "all"
            say(
                f"    {where}"
                + (f", {problem.id}" if problem.id else "")
                + f": {problem.detail}".rstrip(": ")
            )
    _show_splits(pairs, report)


def _show_splits(pairs: Pairs, report: Report) -> None:
    """The splits of usable rows: those there are, and those that would be made."""
    good = report.good(pairs.lines)
    if report.digests is None or not good.any():
        return
    _, made = split(pairs.where(good), SplitPlan(), report.digests[good])
    components = counted(made.components, "component")
    title = f"Splits {made.made}: {components}, the largest has {made.largest:,}"
    counts = [[name, rows, made.shares[name]] for name, rows in made.rows.items()]
    table(title, ["split", "usable rows", "share"], counts)
    for name in (name for name, rows in made.rows.items() if not rows):
        say(f"no row is in {name}: there are too few components, or too few rows", style="yellow")
    if made.undecided:
        tied = counted(made.undecided, "row is", "rows are")
        say(f"{tied} tied to two splits at once, and in none")

"""`trope check`: what is wrong with a data set."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

import trope
from trope import config
from trope.cli.output import print_json, say, table
from trope.data.check import KINDS, CheckSettings, Report, check, fix
from trope.data.pairs import Pairs
from trope.data.splits import SplitPlan, split
from trope.errors import UsageError
from trope.files import refuse_existing


def command(
    data: Annotated[Path, typer.Argument(help="A folder or table of image-text pairs.")],
    strict: Annotated[bool, typer.Option("--strict", help="Warnings count as errors.")] = False,
    fix_to: Annotated[
        Path | None,
        typer.Option(
            "--fix", metavar="OUT", help="Write the good rows there, the rest to rejected.jsonl."
        ),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="One JSON document instead of tables.")
    ] = False,
    examples: Annotated[int, typer.Option(min=0, help="Findings shown of each kind.")] = 3,
    config_file: Annotated[
        Path | None, typer.Option("--config", metavar="FILE", help="Settings as TOML.")
    ] = None,
    sets: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="K=V", help="Change a setting, such as near.threshold=0.9."),
    ] = None,
) -> None:
    """Say what is wrong with a data set. Errors exit 1; warnings exit 0 unless --strict."""
    settings = config.load(CheckSettings, config_file, sets or ())
    if fix_to:
        refuse_existing(fix_to)
        if not settings.images:
            raise UsageError("--fix sorts out broken pictures and cannot go with images=false")
    pairs = trope.open(data, collect=True)
    report = check(pairs, settings)
    fixed = fix(pairs, report, fix_to) if fix_to else None
    if json:
        print_json(_document(report, settings, fixed, examples))
    else:
        _show(pairs, report, examples)
        if fixed:
            say(f"{fix_to}: {fixed[0]:,} rows kept, {fixed[1]:,} rejected with reasons")
    if report.count("error") or (strict and report.count("warning")):
        raise typer.Exit(1)


def _document(
    report: Report, settings: CheckSettings, fixed: tuple[int, int] | None, examples: int
) -> dict[str, object]:
    document = report.document(examples) | {"config": config.plain(settings)}
    return document | ({"fixed": {"kept": fixed[0], "rejected": fixed[1]}} if fixed else {})


def _show(pairs: Pairs, report: Report, examples: int) -> None:
    errors, warnings = report.count("error"), report.count("warning")
    say(
        f"{report.data}: {report.rows:,} rows, {report.usable:,} usable; "
        f"{errors:,} errors, {warnings:,} warnings",
        style="bold red" if errors else "bold yellow" if warnings else "bold green",
    )
    for code, found in report.by_code().items():
        kind = KINDS[code]
        say(f"{kind.severity} {code}: {kind.meaning} ({len(found):,})")
        for problem in found[:examples]:
            where = f"line {problem.line}" if problem.line else "all"
            say(
                f"    {where}"
                + (f", {problem.id}" if problem.id else "")
                + f": {problem.detail}".rstrip(": ")
            )
    _show_splits(pairs, report)


def _show_splits(pairs: Pairs, report: Report) -> None:
    """The splits there are, and those that would be made for rows that have none."""
    if not len(pairs) or any(problem.code == "split-unknown" for problem in report.problems):
        return
    _, made = split(pairs, SplitPlan(), report.digests)
    title = f"Splits {made.made}: {made.components:,} components, the largest has {made.largest:,}"
    table(title, ["split", "rows", "share"], [[n, r, made.shares[n]] for n, r in made.rows.items()])
    for name in (name for name, rows in made.rows.items() if not rows):
        say(f"no row is in {name}: there are too few components, or too few rows", style="yellow")
    if made.undecided:
        say(f"{made.undecided:,} rows are tied to two splits at once and belong to none")

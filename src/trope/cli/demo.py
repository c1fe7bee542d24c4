"""`trope demo`: the main job on built-in data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from trope import config
from trope.cli.options import Config, Sets
from trope.cli.output import say, table
from trope.runtime import generator
from trope.wording import counted

TASK = "recall@1/5-way"

if TYPE_CHECKING:
    from trope.evaluation.results import Evaluation
    from trope.pipeline import DemoResult, Search, UpResult


def command(
    out: Annotated[Path, typer.Option("--out", help="Where data and results go.")] = Path("demo"),
    config_file: Config = None,
    sets: Sets = None,
    serve: Annotated[bool, typer.Option("--serve", help="Open the page at the end.")] = False,
) -> None:
    """Make the built-in Emblem Book, check it, split it, train on it, evaluate, and search."""
    from trope.cli.page import open_page, refuse_page
    from trope.pipeline import Demo, demo

    refuse_page(serve)
    found = demo(out, config.load(Demo, config_file, sets or ()))
    show(found)
    open_page(found.index, serve)


def show(result: DemoResult) -> None:
    """The demo's findings for people."""
    report, statistics = result.check, result.statistics
    say(f"1. The Emblem Book: {counted(len(result.pairs), 'pair')} in {result.data}", style="bold")
    for row in generator(0, "examples").choice(len(result.pairs), min(4, len(result.pairs)), False):
        pair = result.pairs[int(row)]
        say(f"   {pair.id}: “{pair.texts[0]}”")
        say(f"   {' ' * len(pair.id)}  shown: {pair.extra['description']}", style="dim")
    errors, warnings = report.count("error"), report.count("warning")
    say(
        f"2. Check: {counted(report.usable, 'usable row')}, {counted(errors, 'error')}, "
        f"{counted(warnings, 'warning')}",
        style="bold",
    )
    made = result.split
    say(
        f"3. Split {made.made}: {counted(made.components, 'component')}, "
        f"the largest has {made.largest:,}",
        style="bold",
    )
    say(
        f"4. Statistics: {statistics.images:,} images, {statistics.texts:,} texts, "
        f"{statistics.labels:,} labels, {statistics.vocabulary:,} words in the training vocabulary",
        style="bold",
    )
    table(
        "",
        ["split", "rows", "share", "words a text", "± sd", "unknown words", "labels a row"],
        [
            [
                name,
                part.rows,
                made.shares[name],
                part.words_per_text,
                part.words_per_text_sd,
                part.unknown_words,
                part.labels_per_row,
            ]
            for name, part in statistics.splits.items()
        ],
    )
    _show_run(result)
    say(f"6. Searches in {result.index}, among pictures the model has not seen:", style="bold")
    show_searches(result.searches, result.index)
    say(
        f"Pictures to look at: {result.sheet}; everything above: {result.data.parent / 'demo.json'}"
    )


def show_up(result: UpResult) -> None:
    """What `trope up` made of a data set."""
    report, rows, progress = result.check, result.trained.rows, result.trained.progress
    errors, warnings = report.count("error"), report.count("warning")
    said = f"{report.usable:,} usable rows, {errors} errors, {warnings} warnings"
    say(f"1. Check of {result.data}: {said}", style="bold")
    shares = ", ".join(f"{count:,} {name}" for name, count in rows.items())
    say(
        f"2. Trained in {progress.epoch} epochs on {shares} rows; the best on validation is "
        f"{progress.best_epoch + 1}",
        style="bold",
    )
    if result.evaluation is not None:
        say(f"3. The right one of 5, over {result.evaluation.texts:,} test pairs:", style="bold")
        _show_task(result.evaluation)
    say(f"4. The index: {result.index}. Some searches:", style="bold")


def show_searches(searches: Sequence[Search], index: Path) -> None:
    """Sample searches for people, and how to go on."""
    for search in searches:
        right = f": {search.right} of {len(search.results)} are about it" if search.about else ""
        chance = f" (by chance {search.share:.0%})" if search.about else ""
        say(f"   {search.title}{right}{chance}")
        for hit in search.results:
            shown = hit.row.get("description") or hit.image or ""
            what = f"“{hit.text}”" if hit.modality == "text" or not shown else shown
            say(f"      {hit.score:.3f}  {hit.id}  {what}", style="dim")
    say(f'Search yourself: trope search {index} "words", or --image FILE')


def _show_run(result: DemoResult) -> None:
    progress, found = result.trained.progress, result.evaluation
    epochs, pairs = counted(progress.epoch, "epoch"), counted(found.texts, "test pair")
    say(
        f"5. Trained in {epochs}, of which {progress.best_epoch + 1} is the best on validation. "
        f"The right one of 5, over {pairs} whose sentences are new:",
        style="bold",
    )
    _show_task(found)


def _show_task(found: Evaluation) -> None:
    for side in ("image_to_text", "text_to_image"):
        if best := getattr(found, side).get(TASK):  # fewer than five pairs make no task
            chance, span = found.chance[side][TASK], f"{best.low:.1%} to {best.high:.1%}"
            seen = "above chance" if best.low > chance else "not told apart from chance"
            say(
                f"   {side.replace('_', ' ')}: {best.value:.1%} come first (95 % interval {span}; "
                f"by chance {chance:.0%}): {seen}"
            )

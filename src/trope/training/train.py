"""One run from beginning to end: data, recipe, folder, processes, the loop."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch

from trope import config
from trope.data.digests import cache_written
from trope.data.identity import refuse_repeated
from trope.data.pairs import Pairs
from trope.data.readers import open
from trope.data.splits import SplitReport, split
from trope.errors import DataError
from trope.runtime import provenance, refuse_seed, seed_everything
from trope.training import folder as runs
from trope.training.guessing import no_better
from trope.training.idle import refuse_idle
from trope.training.loop import Loop
from trope.training.processes import for_all, launched, stopped_gently, together
from trope.training.recipes import as_sets, load_recipe, resolve
from trope.training.screen import Screen
from trope.training.selection import selected_by
from trope.training.settings import Recipe
from trope.training.small import Scale, small_changes
from trope.training.state import Progress
from trope.training.sweep import swept
from trope.training.task import Task, prepare
from trope.training.validation import looked_at
from trope.weights import WEIGHTS
from trope.wording import counted


@dataclass(frozen=True)
class Trained:
    """A finished run: its folder, its settings, how it went, and how many rows each split has."""

    folder: Path
    settings: Recipe
    progress: Progress
    rows: Mapping[str, int]


def train(
    recipe: str | Recipe,
    data: Pairs | str | Path,
    out: str | Path,
    *,
    sets: Sequence[str] = (),
    seed: int = 0,
    resume: bool = False,
    scale: Scale = "auto",
    quiet: bool = False,
    **settings: Any,
) -> Trained:
    """Train on the pairs of `train`, choose the best epoch on those of `val`.

    Settings are changed by `sets`, written like `--set`, or by keywords: `text={"encoder": "gru"}`.
    """
    refuse_seed(seed)
    chosen = load_recipe(recipe) if isinstance(recipe, str) else recipe
    out, sets = Path(out), [*sets, *as_sets(settings)]
    pairs = data if isinstance(data, Pairs) else open(data)
    pairs, splits = split(pairs, config.override(chosen, sets).split)
    refuse_empty(pairs, splits)
    refuse_repeated(pairs)
    resolved, remarks = settled(chosen, sets, pairs, scale)
    fabric = launched(resolved.training)
    screen = Screen(resolved.training.epochs, quiet or not fabric.is_global_zero)
    run: dict[str, Any] = {"recipe": recipe if isinstance(recipe, str) else "", "seed": seed}
    run |= about_data(pairs, out) | provenance()
    with together(fabric):
        screen.tell(for_all(fabric, lambda: runs.look(out, resolved, run, resume)) or ())
    seed_everything(seed)
    with cache_written():
        task = prepare(pairs, resolved, seed, fabric.world_size)
    screen.tell(
        [
            told(task, resolved, splits, fabric.world_size),
            *remarks,
            *selected_by(task, resolved, seed),
        ]
    )
    screen.tell(task.remarks)
    with together(fabric), ExitStack() as stack:
        for_all(fabric, lambda: stack.enter_context(runs.opened(out, resolved, run, pairs)))
        fabric.barrier()
        short = partial(_trained, seed=seed)
        task = swept(task, pairs, resolved, seed, out, fabric, short, screen.tell)
        description = {"run": run, "settings": config.plain(resolved), **about_weight(task)}
        loop = Loop(task, resolved, seed, out, fabric, description, screen.report)
        again = for_all(fabric, loop.restored) or ()  # what is lost is told, and nothing else
        screen.tell([*loop.standing(), *again])
        for around in (screen, deterministic_algorithms(), stopped_gently(loop)):
            stack.enter_context(around)
        done = Trained(out, resolved, loop.run(), splits.rows)
    screen.tell(no_better(done.progress, looked_at(task)))
    return done


def settled(
    recipe: Recipe, sets: Sequence[str], pairs: Pairs, scale: Scale
) -> tuple[Recipe, list[str]]:
    """The settings for pairs that have their splits, and what there is to say of them."""
    count = int(pairs.in_split("train").text_counts.sum())
    resolved = resolve(recipe, sets, count, scale)
    idle, small = refuse_idle(resolved, sets), small_changes(recipe, sets, count, scale)
    if not small:
        return resolved, idle
    return resolved, [
        f"settings for small data (--scale large: the papers'): {', '.join(small)}",
        *idle,
    ]


def about_weight(task: Task) -> dict[str, Any]:
    """The weight with all its settings, those too that training has chosen."""
    if task.weight is None:
        return {}
    names = {kind: name for name, kind in WEIGHTS.items()}
    return {"weight": {"name": names[type(task.weight)], **config.plain(task.weight)}}


def _trained(settings: Recipe, pairs: Pairs, out: Path, *, seed: int) -> Progress:
    """A run inside another."""
    return train(settings, pairs, out, seed=seed, resume=True, quiet=True).progress


def refuse_empty(pairs: Pairs, splits: SplitReport) -> None:
    """Say why there is nothing to train on, or nothing to choose the best epoch by."""
    for name in ("train", "val"):
        if not splits.rows[name]:
            rows = counted(len(pairs), "row is", "rows are")
            raise DataError(
                f"{pairs.source}: no row for split '{name}': {rows} "
                f"{counted(splits.components, 'component')} (what shares a group, an image or a "
                "text goes together); give the rows a split, or set split.fractions"
            )


def about_data(pairs: Pairs, out: Path) -> dict[str, str]:
    """What the data is, and where, seen from the run: both may be moved together."""
    source = os.path.relpath(pairs.source.resolve(), out.resolve())
    return {"data": pairs.fingerprint, "root": pairs.root.name, "source": source}


def told(task: Task, settings: Recipe, splits: SplitReport, processes: int = 1) -> str:
    """What a run learns from."""
    rows = ", ".join(f"{count:,} {name}" for name, count in splits.rows.items())
    batch = task.train.size(settings.training.batch, processes)
    return (
        f"rows: {rows} (splits {splits.made}); training on {counted(len(task.train), 'pair')} in "
        f"batches of {batch}, validating on {len(task.val):,}"
    )


@contextmanager
def deterministic_algorithms() -> Iterator[None]:
    """Ask for operations that give the same bits again; where there is none, torch says so.

    New memory is not filled with a fixed value, as torch else does then: nothing here reads it.
    """
    memory: Any = torch.utils.deterministic
    before = torch.are_deterministic_algorithms_enabled(), memory.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True, warn_only=True)
    memory.fill_uninitialized_memory = False
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before[0])
        memory.fill_uninitialized_memory = before[1]

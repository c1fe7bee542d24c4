"""One run from beginning to end: data, recipe, processes, signals, the loop."""

from __future__ import annotations

import os
import signal
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from lightning_fabric import Fabric

from trope import config
from trope.data.pairs import Pairs
from trope.data.splits import split
from trope.errors import UsageError
from trope.runtime import provenance, seed_everything
from trope.training import folder as runs
from trope.training.loop import Loop
from trope.training.recipes import Scale, load_recipe, resolve
from trope.training.screen import Screen
from trope.training.settings import Recipe
from trope.training.state import Progress
from trope.training.task import prepare


@dataclass(frozen=True)
class Trained:
    """A finished run: its folder, its settings, and how it went."""

    folder: Path
    settings: Recipe
    progress: Progress


def train(
    recipe: str | Recipe,
    pairs: Pairs,
    out: Path,
    *,
    sets: Sequence[str] = (),
    seed: int = 0,
    resume: bool = False,
    scale: Scale = "auto",
    quiet: bool = False,
) -> Trained:
    """Train on the pairs of `train`, choose the best epoch on those of `val`."""
    chosen = load_recipe(recipe) if isinstance(recipe, str) else recipe
    pairs, _ = split(pairs, chosen.split)
    count = int(pairs.in_split("train").text_counts.sum())
    settings = resolve(chosen, list(sets), count, scale)
    fabric = _fabric(settings)
    if settings.training.batch % fabric.world_size:
        raise UsageError(
            f"training.batch: {settings.training.batch} pairs cannot be shared evenly by "
            f"{fabric.world_size} processes"
        )
    run = {"recipe": recipe if isinstance(recipe, str) else "", "seed": seed}
    run |= {"data": pairs.fingerprint, "root": pairs.root.name, **provenance()}
    if fabric.is_global_zero:
        runs.begin(out, settings, run, resume)
    fabric.barrier()
    seed_everything(seed)
    task = prepare(pairs, settings, seed)
    screen = Screen(settings.training.epochs, quiet or not fabric.is_global_zero)
    screen.tell(task.remarks)
    description = {"run": run, "settings": config.plain(settings)}
    with screen, deterministic_algorithms():
        loop = Loop(task, settings, seed, out, fabric, description, screen.report)
        with _stopped_gently(loop):
            progress = loop.run()
    return Trained(out, settings, progress)


def _fabric(settings: Recipe) -> Fabric:
    """One process, or those that `torchrun` has started, each with its device."""
    local = int(os.environ.get("LOCAL_WORLD_SIZE", "1"))
    world = int(os.environ.get("WORLD_SIZE", "1"))
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # advice for users of another package
            fabric = Fabric(
                accelerator="auto",
                devices=local,
                num_nodes=world // local,
                strategy="ddp" if world > 1 else "auto",
                precision=settings.training.precision,
            )
            fabric.launch()
    except (ValueError, RuntimeError) as error:
        raise UsageError(f"training: {str(error).splitlines()[0]}") from None
    return fabric


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


@contextmanager
def _stopped_gently(loop: Loop) -> Iterator[None]:
    """Ctrl-C and a request to end are heard after the step: the state on disk is then whole."""
    if loop.fabric.world_size > 1:  # the others would wait for this one: the last saving counts
        yield
        return

    def stop(number: int, frame: Any) -> None:
        if loop.stopping:  # asked twice: at once, and the last saving counts
            raise KeyboardInterrupt
        loop.stopping = True

    before = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            before[number] = signal.signal(number, stop)
        except ValueError:  # not the main thread: whoever runs it handles signals
            break
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)

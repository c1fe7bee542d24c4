"""What a running job needs from the machine: seeds, workers, progress, provenance, cache folder."""

from __future__ import annotations

import hashlib
import os
import platform
import random
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from importlib import metadata
from pathlib import Path
from typing import TypeVar

import numpy as np
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from trope.errors import UsageError

Item = TypeVar("Item")

SEEDS = 2**32  # what every generator takes

FIRST_LINE, RAREST_LINE = 10.0, 300.0  # seconds between two signs of life in a log


def version() -> str:
    """The installed version of the package; run from a checkout alone, it has none."""
    try:
        return metadata.version("trope")
    except metadata.PackageNotFoundError:
        return "not installed"


def commit() -> str:
    """The commit of the checkout this code runs from, `-dirty` if the code differs; or unknown."""
    package = Path(__file__).resolve().parent
    if not (package.parents[1] / ".git").exists():
        return "unknown"
    name = _git(package, "describe", "--always")
    return f"{name}-dirty" if _git(package, "status", "--porcelain", "--", ".") else name


def _git(folder: Path, *command: str) -> str:
    try:
        found = subprocess.run(
            ["git", "-C", str(folder), *command],
            capture_output=True,
            text=True,
            check=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return "unknown"
    return found.stdout.strip()


def generator(seed: int, *purpose: str) -> np.random.Generator:
    """Random numbers that depend on the seed and on what they are for, and on nothing else."""
    key = hashlib.blake2b(repr((int(seed), *purpose)).encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(key, "little"))


def refuse_seed(seed: int) -> None:
    """One range for all generators."""
    if not 0 <= seed < SEEDS:
        raise UsageError(f"seed {seed}: must be a whole number from 0 to {SEEDS - 1}")


def seed_everything(seed: int) -> None:
    """Seed Python, numpy and, where it is loaded, torch."""
    random.seed(seed)
    np.random.seed(seed % 2**32)
    if torch := sys.modules.get("torch"):
        torch.manual_seed(seed)


def cores() -> int:
    """How many cores this process may use."""
    return len(os.sched_getaffinity(0))


def cache_folder() -> Path:
    """Where features and digests are kept: `TROPE_CACHE`, else the user's cache folder."""
    if chosen := os.environ.get("TROPE_CACHE"):
        return Path(chosen).expanduser()
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "trope"


def provenance() -> dict[str, str]:
    """When, where and with which code a result was made."""
    return {
        "trope": version(),
        "commit": commit(),
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {cores()} cores",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def console() -> Console:
    """Where progress and remarks go: standard error, so that `--json` output stays clean."""
    return Console(stderr=True)


def remark(text: str) -> None:
    """Tell the user something worth knowing that stops nothing."""
    console().print(text, style="yellow", markup=False, highlight=False, soft_wrap=True)


class _Told(Progress):
    """A bar; where nobody sees one, a line now and then, ever more rarely."""

    def __init__(self, *columns: ProgressColumn, console: Console) -> None:
        super().__init__(*columns, console=console, transient=True, disable=not console.is_terminal)
        self._pause, self._due = FIRST_LINE, time.monotonic() + FIRST_LINE

    def advance(self, task_id: TaskID, advance: int | float = 1) -> None:
        """Count, and give a sign of life where one is due."""
        super().advance(task_id, advance)
        if self.disable and time.monotonic() >= self._due:
            self._pause = min(2 * self._pause, RAREST_LINE)
            self._due = time.monotonic() + self._pause
            self.console.print(_line(self.tasks[task_id]), markup=False, soft_wrap=True)


def _line(task: Task) -> str:
    """How far a task has come, as a line of a log."""
    share = f" of {task.total:,.0f}" if task.total else ""
    left = f", {timedelta(seconds=task.time_remaining)} left" if task.time_remaining else ""
    return f"{task.description}: {task.completed:,.0f}{share}{left}"


@contextmanager
def progress_bar(what: str, total: int | None) -> Iterator[Progress]:
    """A bar on standard error that vanishes when done; in a log, a line now and then."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with _Told(*columns, console=console()) as bar:
        bar.add_task(what, total=total)
        yield bar


def progress(items: Iterable[Item], what: str, total: int | None = None) -> Iterator[Item]:
    """Pass `items` on while a bar counts them."""
    if total is None and isinstance(items, Sized):
        total = len(items)
    with progress_bar(what, total) as bar:
        for item in items:
            yield item
            bar.advance(bar.task_ids[0])

"""What a running job needs from the machine: seeds, workers, progress, provenance, cache folder."""

from __future__ import annotations

import hashlib
import os
import platform
import random
import sys
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import TypeVar

import numpy as np
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TextColumn,
    TimeRemainingColumn,
)

Item = TypeVar("Item")


def version() -> str:
    """The installed version of the package; run from a checkout alone, it has none."""
    try:
        return metadata.version("trope")
    except metadata.PackageNotFoundError:
        return "not installed"


def generator(seed: int, *purpose: str) -> np.random.Generator:
    """Random numbers that depend on the seed and on what they are for, and on nothing else."""
    key = hashlib.blake2b(repr((int(seed), *purpose)).encode(), digest_size=16).digest()
    return np.random.default_rng(int.from_bytes(key, "little"))


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
        "python": platform.python_version(),
        "machine": f"{platform.machine()}, {cores()} cores",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def console() -> Console:
    """Where progress and remarks go: standard error, so that `--json` output stays clean."""
    return Console(stderr=True)


@contextmanager
def progress_bar(what: str, total: int | None) -> Iterator[Progress]:
    """A bar on standard error that vanishes when done; silent when nobody watches."""
    columns = (
        SpinnerColumn(),
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    screen = console()
    with Progress(*columns, console=screen, transient=True, disable=not screen.is_terminal) as bar:
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

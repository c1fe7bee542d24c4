"""The folder of a run: settings, state, the best model, and one line of measurements per epoch."""

from __future__ import annotations

import importlib.util
from contextlib import suppress
from pathlib import Path
from typing import Any

import orjson

from trope import config
from trope.errors import UsageError
from trope.files import replacing, write_json
from trope.training import state
from trope.training.settings import Recipe

SETTINGS, RUN, METRICS = "config.toml", "run.json", "metrics.jsonl"


def begin(folder: Path, settings: Recipe, run: dict[str, Any], resume: bool) -> None:
    """Make the folder, or check that it holds the run that is to go on."""
    before = folder / RUN
    if not before.exists():
        if folder.is_dir() and any(folder.iterdir()):
            raise UsageError(f"{folder}: exists and holds no run; name a new folder")
        folder.mkdir(parents=True, exist_ok=True)
        config.save(settings, folder / SETTINGS)
        write_json(before, run)
        return
    if not resume:
        raise UsageError(f"{folder}: holds a run; add --resume to go on, or name a new folder")
    _refuse_other(folder, settings, run)


def _refuse_other(folder: Path, settings: Recipe, run: dict[str, Any]) -> None:
    """Going on means: the same recipe, settings, seed and data."""
    old = orjson.loads((folder / RUN).read_bytes())
    for name in ("recipe", "seed", "data"):
        if old[name] != run[name]:
            raise UsageError(f"{folder}: made with {name} {old[name]}, not {run[name]}")
    stored = config.load(Recipe, folder / SETTINGS)
    if stored != settings:
        mine, theirs = config.plain(settings), config.plain(stored)
        other = next(name for name in mine | theirs if mine.get(name) != theirs.get(name))
        raise UsageError(
            f"{folder}: made with other settings ({other}: {theirs.get(other)}); "
            "drop --set, or name a new folder"
        )


def has_state(folder: Path) -> bool:
    """Whether there is something to go on from."""
    return (folder / state.FILE).exists()


def write_metrics(folder: Path, history: list[dict[str, Any]]) -> None:
    """All epochs so far, a line each, and to TensorBoard where it is installed."""
    with replacing(folder / METRICS) as file:
        for line in history:
            file.write(orjson.dumps(line) + b"\n")
    if history and importlib.util.find_spec("tensorboard"):
        with suppress(ImportError):
            _write_events(folder, history[-1])


def _write_events(folder: Path, line: dict[str, Any]) -> None:
    from torch.utils.tensorboard import SummaryWriter

    with SummaryWriter(str(folder / "tensorboard")) as writer:
        for name, value in line.items():
            if isinstance(value, float):
                writer.add_scalar(name, value, line["epoch"])

"""The folder of a run: settings, splits, state, the best model, a line of figures per epoch."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import orjson

from trope import checkpoints, config
from trope.data.kept import FILE as SPLITS
from trope.data.kept import keep_splits
from trope.data.pairs import Pairs
from trope.errors import UsageError
from trope.files import locked, refuse_existing, refuse_unwritable, replacing_folder, write_json
from trope.training import state
from trope.training.metrics import METRICS
from trope.training.settings import WORDS_ONLY, Recipe, dotted
from trope.training.task import spelled

SETTINGS, RUN, NONFINITE = "config.toml", "run.json", "nonfinite.json"
SWEEP = "sweep.json"  # ratios that were tried
LEARNED = (checkpoints.FILE, METRICS)  # never there before a state is


def look(folder: Path, settings: Recipe, run: Mapping[str, Any], resume: bool) -> list[str]:
    """Refuse a folder that cannot be used for this run; what there is to say of it otherwise."""
    if not (folder / RUN).exists():
        refuse_existing(folder)
        refuse_unwritable(folder)
        return [f"{folder}: nothing to go on from, a new run begins"] if resume else []
    with held(folder):
        if not has_state(folder):
            _refuse_remains(folder)
            return [f"{folder}: {_left(folder)} the run begins anew"]
        if not resume:
            raise UsageError(f"{folder}: holds a run; add --resume to go on, or name a new folder")
        old = orjson.loads((folder / RUN).read_bytes())
        _refuse_other(folder, old, settings, run)
        return _other_code(folder, old, run)


@contextmanager
def opened(folder: Path, settings: Recipe, run: Mapping[str, Any], pairs: Pairs) -> Iterator[None]:
    """The run's folder with all that describes the run, for this process alone.

    It appears with everything in it: a run killed before has left nothing that stands in the way.
    """
    if new := not (folder / RUN).exists():
        with replacing_folder(folder, fresh=True) as partial:
            _describe(partial, settings, run, pairs)
    with held(folder):
        if has_state(folder):
            config.save(spelled(settings), folder / SETTINGS)  # more epochs may be wanted now
        elif not new:
            _refuse_remains(folder)
            (folder / NONFINITE).unlink(missing_ok=True)
            _describe(folder, settings, run, pairs)
        yield


def held(folder: Path) -> AbstractContextManager[None]:
    """Refuse a folder in which another process trains; any death frees it."""
    return locked(folder, busy="another process trains there just now")


def has_state(folder: Path) -> bool:
    """Whether there is something to go on from."""
    return (folder / state.FILE).exists()


def _left(folder: Path) -> str:
    if (folder / SWEEP).exists():
        return f"an earlier attempt was stopped while it tried ratios, which stand in {SWEEP};"
    return "an earlier attempt had saved nothing,"


def _describe(folder: Path, settings: Recipe, run: Mapping[str, Any], pairs: Pairs) -> None:
    config.save(spelled(settings), folder / SETTINGS)
    keep_splits(folder / SPLITS, pairs, settings.split.images)
    write_json(folder / RUN, run)


def _refuse_remains(folder: Path) -> None:
    """What a run has learned is not written over because its state was taken away."""
    if left := [name for name in LEARNED if (folder / name).exists()]:
        raise UsageError(
            f"{folder}: holds a run's {left[0]}, but its state is gone; name a new folder"
        )


def _other_code(folder: Path, old: Mapping[str, Any], run: Mapping[str, Any]) -> list[str]:
    """A remark where the same bits cannot be promised."""
    then, now = (f"{made['trope']} (commit {made['commit']})" for made in (old, run))
    return [] if then == now else [f"{folder}: begun with trope {then}, goes on with {now}"]


def _refuse_other(
    folder: Path, old: Mapping[str, Any], settings: Recipe, run: Mapping[str, Any]
) -> None:
    """Going on means: the same recipe, settings, seed and data."""
    for name in ("recipe", "seed"):
        if old[name] != run[name]:
            raise UsageError(f"{folder}: made with {name} {old[name]}, not {run[name]}")
    if old["data"] != run["data"]:
        raise UsageError(
            f"{folder}: made with other data ({old['root']}, {old['data'][:8]}; now "
            f"{run['root']}, {run['data'][:8]}); name a new folder"
        )
    stored = config.load(Recipe, folder / SETTINGS)
    then, now = (dotted(config.plain(spelled(s))) for s in (stored, settings))
    raisable = {"training.stop", "training.epochs"}  # nothing that is done depends on them
    if settings.training.schedule == "linear":
        raisable.remove("training.epochs")  # every step's rate does
    other = [name for name in then | now if _differs(name, then.get(name), now.get(name), raisable)]
    if other:
        name, more = other[0], f" (and {len(other) - 1} more)" if other[1:] else ""
        raise UsageError(
            f"{folder}: made with {name} = {then.get(name, 'none')}, not "
            f"{now.get(name, 'none')}{more}; set it as it was, or name a new folder"
        )


def _differs(name: str, then: Any, now: Any, raisable: Collection[str]) -> bool:
    if name in WORDS_ONLY:
        return False
    return bool(now < then) if name in raisable else bool(now != then)

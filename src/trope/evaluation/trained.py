"""What the training of a run came to: broken off, in no numbers, or not in this model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import orjson
import torch

from trope.checkpoints import FILE, Checkpoint, description_of
from trope.errors import DataError, TropeError
from trope.wording import counted

STATE, RUN = "state.safetensors", "run.json"  # of training, beside the model


def unfinished(run: Path, checkpoint: Checkpoint) -> tuple[str, ...]:
    """A remark on how far a run came, if it did not come to its end.

    A model alone, without the state of its training, is taken as it is.
    """
    progress = _progress(run)
    if progress.get("finished", True):
        return ()
    settings = checkpoint.description.get("settings", {}).get("training", {})
    wanted = f" of {settings['epochs']}" if "epochs" in settings else ""
    model = f"; the model is that of epoch {progress.get('best_epoch', -1) + 1}"
    done = counted(progress.get("epoch", 0), "epoch")
    return (f"unfinished: training was stopped after {done}{wanted}{model}",)


def refuse_other(run: Path) -> None:
    """A model of another run has seen other rows: the splits that are kept here are not its.

    It is told by recipe, seed and data, and by what validation found, as far as these are there.
    """
    progress = _progress(run)  # before the model: training may go on meanwhile
    file = run / FILE if run.is_dir() else run
    about = description_of(file)
    if why := _unlike(_begun(run), about.get("run", {})) or _unseen(progress, about):
        raise DataError(f"{file}: is the model of another run than this folder's: {why}")


def _unlike(here: Mapping[str, Any], there: Mapping[str, Any]) -> str:
    """In what a model was made otherwise than the run."""
    for name in ("recipe", "seed", "data"):
        if name in here and name in there and here[name] != there[name]:
            return f"made with {name} {there[name]}, the run with {here[name]}"
    return ""


def _unseen(progress: Mapping[str, Any], about: Mapping[str, Any]) -> str:
    """Whether a model's validation is in no epoch of the run, nor in the one that is under way."""
    history, line = progress.get("history"), about.get("validation")
    if history is None or line is None or line in history:
        return ""
    epoch = line.get("epoch")
    if epoch == progress.get("epoch", 0) + 1:
        return ""
    return f"what validation found after its epoch {epoch} is not what the run's state has"


def _begun(run: Path) -> dict[str, Any]:
    try:
        found = orjson.loads((_folder(run) / RUN).read_bytes())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _progress(run: Path) -> dict[str, Any]:
    try:
        return dict(description_of(_folder(run) / STATE).get("progress", {}))
    except TropeError:
        return {}


def _folder(run: Path) -> Path:
    return run if run.is_dir() else run.parent


def refuse_broken(run: Path, checkpoint: Checkpoint) -> None:
    """A model with a weight that is no number answers nothing."""
    for name, weight in checkpoint.model.state_dict().items():
        if not torch.isfinite(weight).all():
            raise DataError(
                f"{run}: weight '{name}' of the model holds a value that is no finite number; "
                "no answer of it means anything: train anew, with a lower rate"
            )

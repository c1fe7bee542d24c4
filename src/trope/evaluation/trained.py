"""What the training of a run came to: broken off before its end, or in numbers that are none."""

from __future__ import annotations

from pathlib import Path

import torch

from trope.checkpoints import Checkpoint, description_of
from trope.errors import DataError, TropeError
from trope.wording import counted

STATE = "state.safetensors"  # of training, beside the model


def unfinished(run: Path, checkpoint: Checkpoint) -> tuple[str, ...]:
    """A remark on how far a run came, if it did not come to its end.

    A model alone, without the state of its training, is taken as it is.
    """
    state = (run if run.is_dir() else run.parent) / STATE
    try:
        progress = description_of(state).get("progress", {})
    except TropeError:
        return ()
    if progress.get("finished", True):
        return ()
    settings = checkpoint.description.get("settings", {}).get("training", {})
    wanted = f" of {settings['epochs']}" if "epochs" in settings else ""
    model = f"; the model is that of epoch {progress.get('best_epoch', -1) + 1}"
    done = counted(progress.get("epoch", 0), "epoch")
    return (f"unfinished: training was stopped after {done}{wanted}{model}",)


def refuse_broken(run: Path, checkpoint: Checkpoint) -> None:
    """A model with a weight that is no number answers nothing."""
    for name, weight in checkpoint.model.state_dict().items():
        if not torch.isfinite(weight).all():
            raise DataError(
                f"{run}: weight '{name}' of the model holds a value that is no finite number; "
                "no answer of it means anything: train anew, with a lower rate"
            )

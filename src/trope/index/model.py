"""The model that made an index, which lies in its folder."""

from __future__ import annotations

from pathlib import Path

from trope import checkpoints
from trope.checkpoints import Checkpoint, load_model
from trope.data.kept import FILE as SPLITS
from trope.errors import DataError, UsageError
from trope.files import place, placed
from trope.index.folder import State, named, opened, read_state, verified

MODEL = checkpoints.FILE


def bring(run: Path, folder: Path) -> None:
    """The model and what it was trained on, beside the items; links where the disk has them."""
    home = run if run.is_dir() else run.parent
    for source in (home / MODEL if run.is_dir() else run, home / SPLITS):
        target = folder / (MODEL if source.suffix == ".safetensors" else SPLITS)
        if source.exists() and not placed(source, target):
            target.unlink(missing_ok=True)  # of an attempt with another run
            place(source, target)


def checkpoint_of(folder: Path) -> Checkpoint:
    """The model that made an index, which lies in its folder."""

    def read(state: State) -> Checkpoint:
        if MODEL not in state.others:
            raise DataError(f"{folder}: holds no model")
        return load_model(verified(folder, state.others[MODEL]))

    return opened(folder, read)[1]


def refuse_other_model(folder: Path, run: Path) -> None:
    """Vectors of two models cannot be compared."""
    path = run / MODEL if run.is_dir() else run
    if not path.exists():
        raise UsageError(f"{path}: no such file; is this the folder of a finished run?")
    ours = read_state(folder).others[MODEL]
    if (ours.bytes, ours.crc) != (named(path).bytes, named(path).crc):
        raise UsageError(
            f"{folder}: was made by another model than that of {run}; their vectors cannot be "
            "compared: build an index of its own"
        )

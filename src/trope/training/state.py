"""Where a run stands, in one file: a killed run goes on from it as if nothing had happened.

Random numbers need no place in it: those of every step follow from the seed, the epoch and the
step alone.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from lightning_fabric.plugins.precision import Precision
from torch import Tensor, nn
from torch.optim import Optimizer

from trope.checkpoints import put_weights, read_tensors, weights_of, write_tensors
from trope.errors import DataError

FILE = "state.safetensors"
FORMAT = "trope-state-3"
TOGETHER = -1  # in place of the number of a process


@dataclass
class Progress:
    """How far a run has come, and what decides about rate and end.

    `epoch` and `step` are what is done, so that those to come have these numbers, from 0;
    `best_epoch` is a place in `history`, whose lines count epochs from 1, as people do.
    """

    epoch: int = 0
    step: int = 0
    rate: float = 0.0
    lowest: float = float("inf")  # validation loss so far
    waited: int = 0  # epochs since then, or since the rate was lowered
    best: float = float("-inf")  # of what the model is selected by
    best_epoch: int = -1
    total: float = 0.0  # of the losses of this epoch's steps
    finished: bool = False
    history: list[dict[str, Any]] = field(default_factory=list)


def save_state(
    folder: Path,
    modules: dict[str, nn.Module],
    optimizer: Optimizer,
    precision: Precision,
    progress: Progress,
) -> None:
    """Write weights, the optimizer's memory and the progress, whole or not at all."""
    tensors = {
        f"{part}.{name}": value
        for part, module in modules.items()
        for name, value in weights_of(module).items()
    }
    for number, memory in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in memory.items()}
    document = {"format": FORMAT, "progress": _finite(asdict(progress))}
    document["scale"] = precision.state_dict()  # by which losses of 16 bits are multiplied
    write_tensors(folder / FILE, tensors, document)


def load_state(
    folder: Path, modules: dict[str, nn.Module], optimizer: Optimizer, precision: Precision
) -> Progress:
    """Put everything back where it was."""
    path = folder / FILE
    tensors, document = read_tensors(path)
    if document.get("format") != FORMAT:
        found = document.get("format")
        raise DataError(f"{path}: is {found}, this version reads {FORMAT}: train anew")
    parts = {part: _below(tensors, part) for part in (*modules, "optimizer")}
    try:
        for part, module in modules.items():
            put_weights(module, parts[part])
        _remember(optimizer, parts["optimizer"])
        precision.load_state_dict(document["scale"])
        return Progress(**_infinite(document["progress"]))
    except (RuntimeError, KeyError, TypeError, ValueError) as error:
        why = str(error).splitlines()[0]
        raise DataError(f"{path}: does not fit the model to be trained ({why})") from None


def _below(tensors: dict[str, Tensor], part: str) -> dict[str, Tensor]:
    start = f"{part}."
    return {name[len(start) :]: value for name, value in tensors.items() if name.startswith(start)}


def _remember(optimizer: Optimizer, tensors: dict[str, Tensor]) -> None:
    memory: dict[int, dict[str, Tensor]] = {}
    for name, value in tensors.items():
        number, _, what = name.partition(".")
        memory.setdefault(int(number), {})[what] = value
    optimizer.load_state_dict({**optimizer.state_dict(), "state": memory})


def _finite(values: dict[str, Any]) -> dict[str, Any]:
    """JSON knows no infinity."""
    return {
        name: str(value) if value in (float("inf"), float("-inf")) else value
        for name, value in values.items()
    }


def _infinite(values: dict[str, Any]) -> dict[str, Any]:
    return {
        name: float(value) if value in ("inf", "-inf") else value for name, value in values.items()
    }


def deterministic(seed: int, epoch: int, step: int, rank: int = TOGETHER) -> None:
    """Dropout and whatever else is random in a step depends on its place alone.

    Each process has numbers of its own, and there are some that are the same in all.
    """
    place = repr((seed, epoch, step, rank)).encode()
    number = int.from_bytes(hashlib.blake2b(place, digest_size=7).digest(), "little")
    if torch.accelerator.is_available():
        torch.manual_seed(number)
    else:  # the same without a note of the call for devices that are not there, which takes longer
        torch.default_generator.manual_seed(number)

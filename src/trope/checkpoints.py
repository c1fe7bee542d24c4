"""A trained model in one file: weights, and all that is needed to use them.

`safetensors` with a JSON description in its header: the model's plan (settings, sizes, words), the
resolved settings, the code's version and the fingerprint of the data. One file, so that weights and
description cannot come from different runs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from trope import config
from trope.encoders import Model, Plan
from trope.errors import DataError, UsageError
from trope.files import replacing
from trope.wording import counted

FORMAT = "trope-model-2"
FILE = "model.safetensors"


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A model ready for use, its plan, and how it came about."""

    model: Model
    plan: Plan
    description: Mapping[str, Any]

    def trained_by(self, loss: str) -> bool:
        """Whether it was trained by the loss of this name."""
        known = self.description.get("settings", {}).get("loss", {})
        return bool(known.get("name") == loss)


def save_model(path: Path, model: Model, plan: Plan, description: Mapping[str, Any]) -> None:
    """Write a model, whole or not at all."""
    document = {"format": FORMAT, "plan": config.plain(plan), **description}
    write_tensors(path, weights_of(model), document)


def load_model(path: Path) -> Checkpoint:
    """Build the model again; a folder is taken for that of a run."""
    file = path / FILE if path.is_dir() else path
    tensors, description = read_tensors(file)
    found = description.get("format")
    if found == "trope-model-1":
        raise DataError(
            f"{file}: made by an earlier version, which named weights otherwise; train anew"
        )
    if found != FORMAT or "plan" not in description:
        raise DataError(f"{file}: not a model of this version ({found})")
    plan = config.parse(Plan, description["plan"], f"{file}: plan")
    model = plan.model(0)
    fit(model, tensors, str(file))
    return Checkpoint(model.eval(), plan, description)


def fit(model: Model, tensors: Mapping[str, Tensor], source: str) -> None:
    """Put weights into a model; one sentence on what differs, if anything does."""
    wanted = weights_of(model)
    missing, surplus = sorted(wanted.keys() - tensors), sorted(tensors.keys() - wanted)
    shapes = [name for name in wanted.keys() & tensors if wanted[name].shape != tensors[name].shape]
    for names, what in ((missing, "lacks"), (surplus, "has, unknown to the model,")):
        if names:
            raise DataError(
                f"{source}: {what} {counted(len(names), 'weight')}, the first is {names[0]}"
            )
    if shapes:
        name = min(shapes)
        found, expected = tuple(tensors[name].shape), tuple(wanted[name].shape)
        raise DataError(f"{source}: {name} has shape {found}, the model takes {expected}")
    put_weights(model, tensors)


def weights_of(module: nn.Module) -> dict[str, Tensor]:
    """Each weight once, by its first name: the two towers of a model may share some."""
    kept = module.state_dict(keep_vars=True)
    first = _first_names(kept)
    return {name: kept[name].detach().contiguous() for name in dict.fromkeys(first.values())}


def put_weights(module: nn.Module, tensors: Mapping[str, Tensor]) -> None:
    """Put back what `weights_of` gave; what is missing or too much is an error of torch's."""
    first = _first_names(module.state_dict(keep_vars=True))
    shared = {name: tensors[own] for name, own in first.items() if own in tensors}
    module.load_state_dict({**tensors, **shared})


def _first_names(weights: Mapping[str, Tensor]) -> dict[str, str]:
    """The first of the names under which each weight is known."""
    names: dict[int, str] = {}
    return {name: names.setdefault(id(weight), name) for name, weight in weights.items()}


def write_tensors(path: Path, tensors: Mapping[str, Tensor], document: Mapping[str, Any]) -> None:
    """Tensors and one JSON document in one file, whole or not at all."""
    text = orjson.dumps(document, option=orjson.OPT_SERIALIZE_NUMPY).decode()
    with replacing(path) as file:
        file.write(save(dict(tensors), {"description": text}))


def read_tensors(path: Path) -> tuple[dict[str, Tensor], dict[str, Any]]:
    """Read what `write_tensors` wrote; anything else is an error that names the file."""
    with _opened(path) as file:
        names = file.keys()
        return {name: file.get_tensor(name) for name in names}, _described(file)


def description_of(path: Path) -> dict[str, Any]:
    """The document alone, which is quick however many tensors there are."""
    with _opened(path) as file:
        return _described(file)


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    if not path.exists():
        raise UsageError(f"{path}: no such file; is this the folder of a finished run?")
    try:
        with safe_open(path, framework="pt") as file:
            yield file
    except (OSError, SafetensorError, KeyError, TypeError, ValueError) as error:
        raise DataError(f"{path}: damaged, or not made by trope ({error})") from None


def _described(file: Any) -> dict[str, Any]:
    return dict(orjson.loads((file.metadata() or {})["description"]))

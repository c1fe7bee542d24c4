"""Where a model of `transformers` lies: a folder, the machine's store of models, or the network."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from trope.errors import MissingExtra, TropeError, UsageError, suggestion
from trope.features.stored import stored_model

DESCRIPTION = ["config.json", "preprocessor_config.json", "processor_config.json"]
WEIGHTS = (
    ["model.safetensors", "model-*.safetensors", "model.safetensors.index.json"],
    ["pytorch_model.bin", "pytorch_model-*.bin", "pytorch_model.bin.index.json"],
)  # the second only where the first is not offered


def model_folder(name: str, known: Iterable[str], download: bool) -> Path:
    """The folder that holds the model `name`; the network is asked only with `download`."""
    if find_spec("transformers") is None:
        raise MissingExtra(f"backbone '{name}'", "transformers", suggestion(name, known))
    folder = Path(name).expanduser()
    if not name or not folder.is_dir():
        advice = f" (in Python, trope.features.backbone('{name}', download=True) fetches it)"
        folder = _downloaded(name) if download else stored_model("backbone", name, known, advice)
    if not (folder / "config.json").is_file():
        raise UsageError(f"{folder}: has no config.json; not the folder of a transformers model")
    return folder


def _downloaded(name: str) -> Path:
    """Fetch what is needed of a model and not there yet."""
    try:
        for weights in WEIGHTS:
            folder = Path(_hub().snapshot_download(name, allow_patterns=[*DESCRIPTION, *weights]))
            if any(next(folder.glob(pattern), None) for pattern in weights):
                return folder
    except Exception as error:  # whatever the network comes up with
        why = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise TropeError(f"backbone '{name}': cannot be fetched ({why})") from None
    raise TropeError(f"backbone '{name}': offers no {WEIGHTS[0][0]} and no {WEIGHTS[1][0]}")


def _hub() -> Any:
    """The package that keeps fetched models, which comes with `transformers`."""
    return import_module("huggingface_hub")

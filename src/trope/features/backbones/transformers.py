"""Image models of the `transformers` package: ResNet, ViT, DINOv2, the image side of CLIP, …

Pictures are stretched to the size the model takes, as everywhere; mean, deviation and scale come
from the model's own configuration. Nothing is fetched from the network unless asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from trope.errors import DataError, TropeError, UsageError
from trope.features.backbones.preparation import Preparation
from trope.features.kinds import Features, Kind, Pixels
from trope.wording import counted


@dataclass(frozen=True)
class TransformersModel:
    """An image model in a folder, with its weights and its preparation of pixels."""

    name: str
    folder: Path
    preparation: Preparation
    device: str = "cpu"

    @property
    def size(self) -> int:
        """Height and width of the pictures it takes."""
        return self.preparation.size

    def fingerprint(self) -> str:
        """Of the configuration, the weights and the preparation; not of the folder's name."""
        digest = hashlib.sha256(repr(self.preparation).encode())
        for path in [self.folder / "config.json", *_weights(self.folder)]:
            with path.open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()

    @cached_property
    def network(self) -> tuple[Any, bool]:
        """The network, loaded when first needed, and whether its own pooling was trained."""
        network, pooling = _loaded(self.folder)
        return network.eval().to(self.device), pooling

    def encode(self, pixels: Pixels, kind: Kind) -> Features:
        """Features of decoded pictures; tokens leave out the special ones."""
        from trope.features.backbones import outputs

        want, (network, pooling) = self.preparation, self.network

        def run(part: Pixels) -> Any:
            values = outputs.prepared(part, want.mean, want.std, self.device)
            output = network(pixel_values=values)
            pooled = output.get("pooler_output") if pooling else None
            count = patches(network.config, want.size)
            return outputs.chosen(output.last_hidden_state, pooled, count, kind)

        try:
            return outputs.in_parts(pixels, run, kind, self.device)
        except (AttributeError, TypeError, ValueError) as error:
            why = _line(error)
            raise TropeError(f"backbone '{self.name}': no {kind} features of it ({why})") from None


def _weights(folder: Path) -> list[Path]:
    """The files the weights are loaded from."""
    for pattern in ("*.safetensors", "*.bin"):
        if found := sorted(folder.glob(pattern)):
            return found
    raise DataError(f"{folder}: no weights (model.safetensors or pytorch_model.bin)")


def _loaded(folder: Path) -> tuple[Any, bool]:
    """The image side of the model; weights that are missing are refused, but for unused pooling."""
    from transformers import AutoModel

    try:
        with _quiet():
            model, report = AutoModel.from_pretrained(
                folder, local_files_only=True, trust_remote_code=False, output_loading_info=True
            )
    except Exception as error:  # the package raises what its parts stumble on
        raise DataError(f"{folder}: cannot be loaded ({_line(error)})") from None
    side = "vision_model." if hasattr(model, "vision_model") else ""
    if not side and model.main_input_name != "pixel_values":
        raise UsageError(f"{folder}: {type(model).__name__} is not an image model")
    missing = [key for key in report["missing_keys"] if key.startswith(side)]
    if lost := sorted(key for key in missing if "pooler" not in key):
        gone = counted(len(lost), "weight is", "weights are")
        raise DataError(f"{folder}: {gone} missing, the first is {lost[0]}")
    return getattr(model, "vision_model", model), not missing


@contextmanager
def _quiet() -> Iterator[None]:
    """Loading without bars and reports on standard error; what matters is checked above."""
    logging: Any = import_module("transformers.utils.logging")
    level, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        logging.set_verbosity(level)
        if bars:
            logging.enable_progress_bar()


def patches(config: Any, size: int) -> int:
    """How many patches a picture is cut into; none where the network has no such notion."""
    patch = getattr(config, "patch_size", None)
    side = patch[0] if isinstance(patch, (list, tuple)) else patch
    return (size // side) ** 2 if side else 0


def _line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0][:200]

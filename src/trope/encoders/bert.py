"""The layers of a BERT (Devlin et al. 2019) as the beginning of a transformer, where sizes fit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import orjson
import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from trope.encoders.model import Model
from trope.encoders.settings import HeadSettings
from trope.encoders.sharing import Sharing
from trope.encoders.transformer import Block, Transformer
from trope.errors import DataError, UsageError
from trope.features.sentences import encoder_folder

WEIGHTS = "model.safetensors"


def start_layers(model: Model, settings: HeadSettings) -> None:
    """Give the transformers of a model the first layers of the BERT that settings name."""
    if settings.kind != "transformer" or not settings.transformer.start:
        return
    folder = encoder_folder(settings.transformer.start)
    refuse_other_sizes(folder, settings)
    weights = _weights(folder)
    for tower in (model.image, model.text):
        assert isinstance(tower.head, Sharing)
        _start(tower.head.transformer, weights, folder)
        _enter(tower.head, weights, folder)


def refuse_other_sizes(folder: Path, settings: HeadSettings) -> None:
    """What a BERT has must be what the settings say, and layers enough."""
    try:
        known = orjson.loads((folder / "config.json").read_bytes())
    except (OSError, orjson.JSONDecodeError) as error:
        raise DataError(f"{folder / 'config.json'}: cannot be read ({error})") from None
    inside = settings.transformer
    wanted = {
        "hidden_size": ("head.size", settings.size),
        "num_attention_heads": ("head.transformer.heads", inside.heads),
        "intermediate_size": ("head.transformer.hidden", inside.hidden),
    }
    what = "head.transformer.start"
    if known.get("model_type") != "bert":
        raise UsageError(f"{what}: {folder} holds a model of type {known.get('model_type')}")
    for name, (setting, value) in wanted.items():
        if known.get(name) != value:
            raise UsageError(
                f"{what}: {folder} has {name} {known.get(name)}, and {setting} is {value}"
            )
    if known.get("num_hidden_layers", 0) < inside.layers:
        raise UsageError(
            f"{what}: {folder} has {known.get('num_hidden_layers', 0)} layers, and "
            f"head.transformer.layers is {inside.layers}"
        )
    if known.get("hidden_act") != "gelu":
        raise UsageError(f"{what}: {folder} has hidden_act {known.get('hidden_act')}, not gelu")


def _weights(folder: Path) -> dict[str, Tensor]:
    """By their names in a bare BERT; what is not in safetensors would have to be unpickled."""
    try:
        found = load_file(folder / WEIGHTS)
    except FileNotFoundError:
        raise UsageError(f"{folder}: has no {WEIGHTS}; other files are not read") from None
    except (OSError, SafetensorError) as error:
        raise DataError(f"{folder / WEIGHTS}: cannot be read ({error})") from None
    return {name.removeprefix("bert."): value for name, value in found.items()}


def _start(transformer: Transformer, weights: Mapping[str, Tensor], folder: Path) -> None:
    for number, block in enumerate(transformer.blocks):
        assert isinstance(block, Block)
        for name, layer in _layers(block):
            _copy(layer, weights, f"encoder.layer.{number}.{name}", folder)


def _enter(head: Sharing, weights: Mapping[str, Tensor], folder: Path) -> None:
    """The norm before the first layer; and the places of words, as far as there are some."""
    _copy(head.enter, weights, "embeddings.LayerNorm", folder)
    places = weights.get("embeddings.position_embeddings.weight")
    if head.places is not None and places is not None:
        count = min(len(places), len(head.places.weight))
        with torch.no_grad():
            head.places.weight[:count] = places[:count]


def _layers(block: Block) -> Iterator[tuple[str, nn.Module]]:
    """What BERT calls the parts of a block."""
    yield "attention.self.query", block.attention.ask
    yield "attention.self.key", block.attention.key
    yield "attention.self.value", block.attention.value
    yield "attention.output.dense", block.attention.join
    yield "attention.output.LayerNorm", block.norms[0]
    yield "intermediate.dense", block.into
    yield "output.dense", block.out
    yield "output.LayerNorm", block.norms[1]


def _copy(layer: nn.Module, weights: Mapping[str, Tensor], name: str, folder: Path) -> None:
    with torch.no_grad():
        for part, parameter in layer.named_parameters():
            found = weights.get(f"{name}.{part}")
            if found is None or found.shape != parameter.shape:
                raise DataError(f"{folder / WEIGHTS}: lacks {name}.{part} of its own sizes")
            parameter.copy_(found)

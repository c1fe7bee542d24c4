"""An image network that is trained along with the heads."""

from __future__ import annotations

import math
from typing import Any

import torch
from jaxtyping import Float, UInt8
from torch import Tensor, nn

from trope.encoders.boxes import grid_boxes
from trope.encoders.content import Content, Pretrained, drop_channels
from trope.encoders.folding import fold
from trope.encoders.unused import freeze_unused
from trope.errors import UsageError
from trope.features.backbones import backbone, efficientnet, outputs
from trope.features.backbones.efficientnet import EfficientNetLite0
from trope.features.backbones.transformers import TransformersModel, patches
from trope.features.kinds import GRID


class Tuned(Pretrained):
    """Pixels to the cells of the network's last map; their mean is the whole."""

    def __init__(self, name: str, dropout: float, side: int = GRID) -> None:
        super().__init__()
        chosen, self.side = tunable(name), side
        want: tuple[tuple[float, ...], tuple[float, ...]]
        if isinstance(chosen, EfficientNetLite0):
            self.network = efficientnet.network()
            fold(self.network)
            self._cells, want = _lite0_cells, (efficientnet.MEAN, efficientnet.STD)
        else:
            self.network, _ = chosen.network
            self._cells = _model_cells
            want = (chosen.preparation.mean, chosen.preparation.std)
        self.mean: Tensor
        self.std: Tensor
        self.register_buffer("mean", torch.tensor(want[0]), persistent=False)
        self.register_buffer("std", torch.tensor(want[1]), persistent=False)
        self.dropout, self.size = nn.Dropout(dropout), chosen.size
        self.whole = self.part = self._tried()

    def forward(self, pixels: UInt8[Tensor, "n size size 3"]) -> Content:
        """Content of pictures given as 8-bit RGB values."""
        cells = self.cells(pixels)
        parts = cells if self.side == GRID else outputs.coarser(cells, self.side)
        side = math.isqrt(parts.shape[1])  # of small pictures the map has fewer cells
        boxes = grid_boxes(side).to(parts).expand(len(parts), -1, -1)
        return drop_channels(self.dropout, Content(cells.mean(dim=1), parts, boxes=boxes))

    def cells(self, pixels: UInt8[Tensor, "n size size 3"]) -> Float[Tensor, "n cells c"]:
        """The cells of the network's last map."""
        found: Tensor = self._cells(self.network, self._prepared(pixels))
        return found

    def _prepared(self, pixels: UInt8[Tensor, "n size size 3"]) -> Float[Tensor, "n 3 size size"]:
        return pixels.float().sub_(self.mean).div_(self.std).permute(0, 3, 1, 2)

    def _tried(self) -> int:
        """One picture through the network: the number of channels, and what is not used at all."""
        pixels = torch.zeros(1, self.size, self.size, 3, dtype=torch.uint8)
        with torch.enable_grad():
            cells = self._cells(self.network.eval(), self._prepared(pixels))
            freeze_unused(self.network, cells)
        return int(cells.shape[2])


def tunable(name: str) -> EfficientNetLite0 | TransformersModel:
    """A backbone that can be trained along, by its name."""
    chosen = backbone(name)
    if not isinstance(chosen, (EfficientNetLite0, TransformersModel)):
        raise UsageError(f"image.encoder: backbone '{name}' cannot be tuned; use 'frozen'")
    return chosen


def _lite0_cells(network: Any, values: Tensor) -> Float[Tensor, "n cells c"]:
    return outputs.grid(network.extract_features(values))


def _model_cells(network: Any, values: Tensor) -> Float[Tensor, "n cells c"]:
    hidden = network(pixel_values=values).last_hidden_state
    size = int(values.shape[-1])
    return outputs.chosen(hidden, None, patches(network.config, size), "grid")

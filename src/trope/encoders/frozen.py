"""Frozen features as content: nothing to train before the head."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from trope.encoders.boxes import grid_boxes
from trope.encoders.content import Content, Encoder, drop_channels
from trope.encoders.masking import MaskedFeatures
from trope.maths import normalize


class Frozen(Encoder):
    """A vector per item, or vectors of its parts whose mean is the whole.

    `side` is that of a grid whose cells the parts are, 0 where they are none. `mask` masks parts
    in training.
    """

    def __init__(
        self,
        size: int,
        dropout: float,
        unit: bool,
        side: int = 0,
        mask: MaskedFeatures | None = None,
    ) -> None:
        super().__init__()
        self.dropout, self.unit, self.mask = nn.Dropout(dropout), unit, mask
        self.whole = self.part = size
        self.grid: Tensor | None
        self.register_buffer("grid", grid_boxes(side) if side else None, persistent=False)

    def forward(
        self,
        values: Float[Tensor, "n *parts c"],
        present: Bool[Tensor, "n l"] | None = None,
        boxes: Float[Tensor, "n l 5"] | None = None,
    ) -> Content:
        """Content of items given as features, which may be stored in fewer bits."""
        values = values.to(torch.get_default_dtype())
        if values.ndim == 2:
            return Content(self.dropout(self._scaled(values)))
        whole, parts = self._scaled(_mean(values, present)), self._scaled(values)
        if self.grid is not None:
            boxes = self.grid.expand(len(values), -1, -1)
        content = drop_channels(self.dropout, Content(whole, parts, present, boxes))
        return self.mask(content, values) if self.mask is not None and self.training else content

    def _scaled(self, values: Float[Tensor, "*n c"]) -> Float[Tensor, "*n c"]:
        return normalize(values) if self.unit else values


def _mean(
    values: Float[Tensor, "n l c"], present: Bool[Tensor, "n l"] | None
) -> Float[Tensor, "n c"]:
    """Of the real parts; zeros where there is none."""
    if present is None:
        return values.mean(dim=1)
    shares = present.to(values.dtype) / present.sum(dim=1, keepdim=True).clamp(min=1)
    return (shares[:, None] @ values)[:, 0]  # a product: no copy of all parts

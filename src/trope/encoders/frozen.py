"""Frozen features as content: nothing to train before the head."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from trope.encoders.content import Content, Encoder, drop_channels
from trope.maths import normalize


class Frozen(Encoder):
    """A vector per item, or vectors of its parts whose mean is the whole."""

    def __init__(self, size: int, dropout: float, unit: bool) -> None:
        super().__init__()
        self.dropout, self.unit = nn.Dropout(dropout), unit
        self.whole = self.part = size

    def forward(
        self, values: Float[Tensor, "n *parts c"], present: Bool[Tensor, "n l"] | None = None
    ) -> Content:
        """Content of items given as features, which may be stored in fewer bits."""
        values = values.to(torch.get_default_dtype())
        if values.ndim == 2:
            return Content(self.dropout(self._scaled(values)))
        whole, parts = self._scaled(_mean(values, present)), self._scaled(values)
        return drop_channels(self.dropout, Content(whole, parts, present))

    def _scaled(self, values: Float[Tensor, "*n c"]) -> Float[Tensor, "*n c"]:
        return normalize(values) if self.unit else values


def _mean(
    values: Float[Tensor, "n l c"], present: Bool[Tensor, "n l"] | None
) -> Float[Tensor, "n c"]:
    """Of the real parts; zeros where there is none."""
    if present is None:
        return values.mean(dim=1)
    kept = values * present[:, :, None]
    return kept.sum(dim=1) / present.sum(dim=1, keepdim=True).clamp(min=1)

"""A transformer over the parts of items (Vaswani et al. 2017), and the layers of a BERT in it."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from trope.encoders.settings import HeadSettings

Parts = Float[Tensor, "n l d"]


class Attention(nn.Module):
    """Each part asks all that are present, in several heads."""

    def __init__(self, size: int, heads: int, dropout: float) -> None:
        super().__init__()
        self.heads, self.dropout = heads, dropout
        self.ask, self.key, self.value, self.join = (nn.Linear(size, size) for _ in range(4))

    def forward(self, parts: Parts, seen: Bool[Tensor, "n 1 1 l"]) -> Parts:
        """What each part learns of the others."""
        asked, keys, values = (
            layer(parts).unflatten(2, (self.heads, -1)).transpose(1, 2)
            for layer in (self.ask, self.key, self.value)
        )
        dropout = self.dropout if self.training else 0.0
        found = functional.scaled_dot_product_attention(asked, keys, values, seen, dropout)
        told: Tensor = self.join(found.transpose(1, 2).flatten(2))
        return told


class Block(nn.Module):
    """Attention, then a layer of its own for each part; norms before them, or after as in BERT."""

    def __init__(self, settings: HeadSettings) -> None:
        super().__init__()
        size, inside = settings.size, settings.transformer
        self.attention = Attention(size, inside.heads, settings.dropout)
        self.into, self.out = nn.Linear(size, inside.hidden), nn.Linear(inside.hidden, size)
        self.norms = nn.ModuleList([nn.LayerNorm(size), nn.LayerNorm(size)])
        self.dropout, self.after = nn.Dropout(settings.dropout), bool(inside.start)

    def forward(self, parts: Parts, seen: Bool[Tensor, "n 1 1 l"]) -> Parts:
        """The parts after this block."""
        first, second = self.norms
        if self.after:
            parts = first(parts + self.dropout(self.attention(parts, seen)))
            return torch.as_tensor(second(parts + self.dropout(self._alone(parts))))
        parts = parts + self.dropout(self.attention(first(parts), seen))
        return torch.as_tensor(parts + self.dropout(self._alone(second(parts))))

    def _alone(self, parts: Parts) -> Parts:
        return torch.as_tensor(self.out(functional.gelu(self.into(parts))))


class Transformer(nn.Module):
    """All blocks, and what scores labels: what both modalities share.

    Padding is never looked at, and what stands there afterwards means nothing. An item without
    parts sees its first padding, so that its numbers are numbers.
    """

    def __init__(self, settings: HeadSettings, labels: int) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(settings) for _ in range(settings.transformer.layers))
        whole = nn.Identity() if settings.transformer.start else nn.LayerNorm(settings.size)
        self.norm: nn.Module = whole
        self.classify = nn.Linear(settings.size, labels)

    def forward(self, parts: Parts, present: Bool[Tensor, "n l"]) -> Parts:
        """The states of the parts after the last block."""
        seen = present.clone()
        seen[:, 0] |= ~present.any(dim=1)
        for block in self.blocks:
            parts = block(parts, seen[:, None, None, :])
        return torch.as_tensor(self.norm(parts))

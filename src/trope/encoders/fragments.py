"""Parts of an item and one vector of the whole: what models take that compare part with part.

    v_r = normalize(W x_r)                                     regions, cells or words
    a   = softmax_r w · (f(U v_r) ∘ f(U' mean_r v_r))          f: tanh after batch norm, for images
    g   = normalize(Σ_r a_r v_r)

After SGRAF (Diao et al., AAAI 2021). In its code the batch
norm of the parts has one channel for each of 36 regions, which fixes their number; here it has one
for each dimension. What cannot change anything has no weight: a bias before batch norm, and one
that all parts add before a softmax.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from trope.encoders.batch_norm import BatchNorm
from trope.encoders.content import Content
from trope.encoders.heads import there, xavier
from trope.encoders.settings import HeadSettings
from trope.maths import normalize
from trope.views import Encoded


class Fragments(nn.Module):
    """Parts of length one in the joint space; the item's `mean` is its global vector.

    Parts that have the size of the space are taken as they are if they are states of a network
    that is trained along (`mapped` is False).
    """

    def __init__(self, part: int, settings: HeadSettings, *, mapped: bool, normed: bool) -> None:
        super().__init__()
        size = settings.size
        self.map = xavier(nn.Linear(part, size)) if mapped or part != size else nn.Identity()
        self.part, self.whole = (Gate(size, settings.dropout, normed) for _ in range(2))
        self.weigh = xavier(nn.Linear(size, 1, bias=False))

    def forward(self, content: Content) -> Encoded:
        """The item's parts and its global vector."""
        if content.parts is None:
            raise ValueError("an item without parts cannot be compared part by part")
        present = content.present
        found = normalize(self.map(content.parts))
        if present is not None:
            found = found.masked_fill(~present[:, :, None], 0)
        attention = self.attention(found, present)
        whole = normalize((attention.transpose(1, 2) @ found).squeeze(1))
        whole = whole if present is None else there(whole, content)
        return Encoded(whole, locals=found, present=present)

    def attention(
        self, parts: Float[Tensor, "n l d"], present: Bool[Tensor, "n l"] | None
    ) -> Float[Tensor, "n l 1"]:
        """How much each part counts in the whole; padding does not."""
        count = parts.shape[1] if present is None else present.sum(dim=1, keepdim=True).clamp(min=1)
        mean = parts.sum(dim=1) / count
        scores = self.weigh(self.part(parts, present) * self.whole(mean)[:, None])
        if present is not None:
            scores = scores.masked_fill(~present[:, :, None], torch.finfo(scores.dtype).min)
        return torch.softmax(scores, dim=1)


class Gate(nn.Module):
    """A linear map, batch norm for images, tanh, dropout."""

    def __init__(self, size: int, dropout: float, normed: bool) -> None:
        super().__init__()
        self.map = xavier(nn.Linear(size, size, bias=not normed))
        self.norm = BatchNorm(size) if normed else None
        self.dropout = nn.Dropout(dropout)

    def forward(
        self, values: Float[Tensor, "*n d"], present: Bool[Tensor, "*n"] | None = None
    ) -> Float[Tensor, "*n d"]:
        """What is multiplied with the other gate's."""
        found: Tensor = self.map(values)
        if self.norm is not None:
            found = self.norm(found, present)
        dropped: Tensor = self.dropout(torch.tanh(found))
        return dropped

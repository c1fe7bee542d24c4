"""Parts of items that are masked in training, to be predicted from the rest (paper 003).

A share of the parts of each item, and at least one of several; never the only one, whose absence
leaves nothing to predict from. Words are masked before anything reads them: what a GRU made of its
neighbors would tell them.
"""

from __future__ import annotations

from dataclasses import replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from trope.encoders.codes import nearest
from trope.encoders.content import Content


def drawn(present: Bool[Tensor, "n l"], share: float) -> Bool[Tensor, "n l"]:
    """Which parts are masked: by chance, and the first by lot where chance takes none."""
    lots = torch.rand(present.shape, device=present.device).masked_fill(~present, 2.0)
    taken = lots < share
    first = torch.zeros_like(present).scatter(1, lots.argmin(dim=1, keepdim=True), True)
    several = present.sum(dim=1, keepdim=True) > 1
    spared = taken.sum(dim=1, keepdim=True) >= present.sum(dim=1, keepdim=True)
    last = torch.zeros_like(present).scatter(
        1, lots.masked_fill(~present, -1.0).argmax(dim=1, keepdim=True), True
    )
    return (taken | first) & several & ~(spared & last)


class MaskedWords(nn.Module):
    """Words replaced by one that stands for any; the table of words has a row more for it."""

    def __init__(self, vocabulary: int, share: float) -> None:
        super().__init__()
        self.vocabulary, self.share = vocabulary, share

    def forward(
        self, ids: Int[Tensor, "n l"], present: Bool[Tensor, "n l"]
    ) -> tuple[Int[Tensor, "n l"], Bool[Tensor, "n l"]]:
        """What is read instead, and which words are masked."""
        masked = drawn(present, self.share)
        return ids.masked_fill(masked, self.vocabulary), masked


class MaskedFeatures(nn.Module):
    """Frozen features replaced by a learned vector; what they were is the nearest of some centers.

    The papers name regions by the classes of a detector. Where there is none the features of the
    training split are grouped, and a group is what there is to predict.
    """

    def __init__(self, size: int, codes: int, share: float) -> None:
        super().__init__()
        self.share = share
        self.vector = nn.Parameter(torch.zeros(size))
        self.centers: Tensor
        self.register_buffer("centers", torch.zeros(codes, size))

    def forward(self, content: Content, values: Float[Tensor, "n l c"]) -> Content:
        """The same items with some parts masked; `values` are the features as they are stored."""
        assert content.parts is not None
        present = content.present
        if present is None:
            present = torch.ones(values.shape[:2], dtype=torch.bool, device=values.device)
        masked = drawn(present, self.share)
        targets = torch.zeros(masked.shape, dtype=torch.int64, device=values.device)
        targets[masked] = nearest(values[masked], self.centers)
        parts = torch.where(masked[:, :, None], self.vector, content.parts)
        return replace(content, parts=parts, masked=masked, targets=targets)

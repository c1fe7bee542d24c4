"""What an encoder found in items before a head places them: a whole, and parts to attend to."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn


@dataclass(frozen=True)
class Content:
    """One vector per item, and vectors of its parts (cells, words); `present` marks real parts.

    `boxes` say where in a picture its parts are (`boxes.py`). In training some parts may be
    `masked`; `targets` are the numbers of what was there.
    """

    whole: Float[Tensor, "n h"]
    parts: Float[Tensor, "n l c"] | None = None
    present: Bool[Tensor, "n l"] | None = None
    boxes: Float[Tensor, "n l 5"] | None = None
    masked: Bool[Tensor, "n l"] | None = None
    targets: Int[Tensor, "n l"] | None = None


def drop_channels(dropout: nn.Dropout, content: Content) -> Content:
    """Dropout that takes the same channels from an item's whole and from all its parts.

    After Tompson et al. (CVPR 2015): cells beside each other say the same. And a draw for each
    number of a grid takes longer than the head.
    """
    if not dropout.training or not dropout.p:
        return content
    kept = dropout(torch.ones_like(content.whole))
    parts = None if content.parts is None else content.parts * kept[:, None]
    return replace(content, whole=content.whole * kept, parts=parts)


class Encoder(nn.Module):
    """From inputs to content; says how long the vectors of wholes and of parts are."""

    whole: int
    part: int


class Pretrained(Encoder):
    """An encoder around a pretrained network that is trained along.

    In training the network works as it does in use. It drops nothing by itself, as some do inside
    (dropout, whole blocks): the `dropout` of the settings is all there is. And statistics of batch
    normalization stay those of pretraining: batches are small, and the result then does not depend
    on how a batch is spread over processes.
    """

    network: nn.Module

    def train(self, mode: bool = True) -> Pretrained:
        """As usual, but the network stays as it is used."""
        super().train(mode)
        self.network.eval()
        return self

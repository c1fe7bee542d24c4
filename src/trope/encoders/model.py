"""A model of two towers: an encoder and a head for each modality, one space for both."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from typing import TypeAlias

import torch
from torch import Tensor, nn

from trope.encoders.content import Encoder
from trope.encoders.heads import head
from trope.encoders.inputs import Inputs, Items, Tensors
from trope.encoders.settings import HeadSettings
from trope.views import Encoded

Packed: TypeAlias = tuple[Tensor | None, ...]  # the fields of `Encoded`, in order


class Tower(nn.Module):
    """One modality: from what its inputs give to points of the joint space."""

    def __init__(self, encoder: Encoder, settings: HeadSettings) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = head(encoder.whole, encoder.part, settings)

    def forward(self, *inputs: Tensor) -> Packed:
        """Encoded items, as plain tensors: wrappers of modules cannot look into records."""
        return unpacked(self.head(self.encoder(*inputs)))


class Model(nn.Module):
    """Pictures and texts in, points of one space out."""

    def __init__(self, image: Tower, text: Tower) -> None:
        super().__init__()
        self.image, self.text = image, text

    def forward(self, images: Tensors, texts: Tensors) -> tuple[Packed, Packed]:
        """Both modalities of a batch in one call."""
        return self.image(*images), self.text(*texts)


@torch.no_grad()
def encode(tower: Tower, inputs: Inputs, items: Items, batch: int = 256) -> Encoded:
    """Chosen items of one modality, in order, without gradients or dropout."""
    training = tower.training
    tower.eval()
    device = next(tower.parameters()).device
    chosen = [items[i : i + batch] for i in range(0, len(items), batch)]
    try:
        done = [
            tower(*(tensor.to(device) for tensor in tensors))
            for tensors in inputs.batches(chosen, None)
        ]
    finally:
        tower.train(training)
    return join([packed(values) for values in done])


def join(parts: Sequence[Encoded]) -> Encoded:
    """Encoded items one after the other."""
    columns = zip(*map(unpacked, parts), strict=True)
    return packed(tuple(None if column[0] is None else torch.cat(column) for column in columns))


def packed(values: Packed) -> Encoded:
    """The record of plain tensors."""
    mean, *others = values
    assert mean is not None
    return Encoded(mean, *others)


def unpacked(encoded: Encoded) -> Packed:
    """The fields of a record, in order."""
    return tuple(getattr(encoded, field.name) for field in fields(Encoded))

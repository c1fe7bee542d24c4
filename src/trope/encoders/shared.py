"""Heads that predict labels, and what the heads of both modalities share in them."""

from __future__ import annotations

from typing import TypeAlias

from torch import nn

from trope.encoders.content import Encoder
from trope.encoders.dscmr import Classified, Common
from trope.encoders.heads import head
from trope.encoders.settings import HeadSettings
from trope.encoders.sharing import Sharing
from trope.encoders.transformer import Transformer

Inside: TypeAlias = Common | Transformer


def shared_inside(settings: HeadSettings, labels: int) -> Inside | None:
    """One module for both heads, where they share one."""
    if settings.kind == "dscmr":
        return Common(settings, labels)
    if settings.kind == "transformer" and settings.transformer.shared:
        return Transformer(settings, labels)
    return None


def head_around(
    encoder: Encoder,
    settings: HeadSettings,
    labels: int,
    shared: Inside | None,
    *,
    places: int = 0,
    boxes: bool = False,
    targets: int = 0,
) -> nn.Module:
    """The head of one modality, around what it shares with the other if it does."""
    if settings.kind == "linear":
        return head(encoder.whole, encoder.part, settings)
    if isinstance(shared, Common):
        return Classified(encoder.whole, settings, shared)
    inside = shared or Transformer(settings, labels)
    return Sharing(encoder.part, settings, inside, places=places, boxes=boxes, targets=targets)

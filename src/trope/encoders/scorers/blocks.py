"""Pairs of images and texts in blocks of bounded size, texts of like length together."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from trope.errors import DataError
from trope.views import Encoded

NUMBERS = 2**20  # pairs times words times dimensions of a block: 4 MB
IMAGES = 8  # of a block at least, if it has several texts
RATIO = 1.25  # of the longest text of a block to the shortest


@dataclass(frozen=True, eq=False)
class Block:
    """Some texts, padded to the longest of them, and consecutive images."""

    texts: Int[Tensor, " c"]
    images: slice
    words: Float[Tensor, "c l d"]
    present: Bool[Tensor, "c l"]


def in_blocks(image: Encoded, text: Encoded) -> Iterator[Block]:
    """All pairs: some texts with the images one after the other, then the next texts."""
    regions, words, present = locals_of(image, "image"), locals_of(text, "text"), real(text)
    lengths = present.sum(dim=1)
    for texts in alike(lengths, NUMBERS // (IMAGES * words.shape[2])):
        longest = max(1, int(lengths[texts].max()))
        some = words.index_select(0, texts)[:, :longest].to(regions.dtype)
        there = present[texts, :longest]
        step = max(1, NUMBERS // max(1, some.numel()))
        for start in range(0, len(regions), step):
            yield Block(texts, slice(start, start + step), some, there)


def alike(lengths: Int[Tensor, " m"], most: int) -> list[Int[Tensor, " c"]]:
    """The numbers of texts in classes of like length, from short to long.

    At most so many words together, padding included, if that is more than one text.
    """
    kinds = lengths.clamp(min=1).double().log().div(math.log(RATIO)).floor().long()
    order = torch.argsort(kinds, stable=True)
    counts = torch.unique_consecutive(kinds[order], return_counts=True)[1].tolist()
    found: list[Tensor] = []
    for some in torch.split(order, counts):
        longest = max(1, int(lengths[some].max()))
        found += torch.split(some, max(1, most // longest))
    return found


def locals_of(encoded: Encoded, what: str) -> Float[Tensor, "n l d"]:
    """The parts of items, without which they cannot be compared here."""
    if encoded.locals is None:
        raise DataError(f"the {what}s have no parts to be compared by")
    return encoded.locals


def real(encoded: Encoded) -> Bool[Tensor, "n l"]:
    """Which parts are no padding."""
    if encoded.present is not None:
        return encoded.present
    parts = locals_of(encoded, "item")
    return torch.ones(parts.shape[:2], dtype=torch.bool, device=parts.device)

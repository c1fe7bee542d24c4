"""Towers as graphs that can be exported: the same numbers without packing, on padded items.

A GRU over padded texts gives the same states up to each text's last word, where the last one is
taken; backwards, each text is turned within its own length first. Attention to padding is masked,
and what has no content is zero, by multiplication instead of a branch.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from trope.encoders.frozen import Frozen
from trope.encoders.gru import Gru
from trope.encoders.heads import Linear, PieNet
from trope.encoders.model import Tower
from trope.encoders.sentences import TunedSentences
from trope.encoders.tuned import Tuned
from trope.errors import UsageError
from trope.features.backbones.outputs import coarser
from trope.features.kinds import GRID
from trope.maths import SHORTEST

Content = tuple[Tensor, Tensor, Tensor]  # whole, parts, and which parts are real


class Dense(nn.Module):
    """What a tower does, in one piece: the item's mean and, of several senses, its points."""

    def __init__(self, encoder: nn.Module, head: Linear | PieNet) -> None:
        super().__init__()
        self.encoder, self.head = encoder, head

    def forward(self, *inputs: Tensor) -> tuple[Tensor, ...]:
        """Vectors of length one, zeros for an item without content."""
        whole, parts, present = self.encoder(*inputs)
        there = present.any(dim=1, keepdim=True).to(whole.dtype)
        if isinstance(self.head, Linear):
            return (_unit(self.head.map(whole)) * there,)
        points = _points(self.head, whole, parts, present) * there[:, None]
        return _unit(points.sum(dim=1)), points


class Padded(nn.Module):
    """A GRU over padded texts."""

    def __init__(self, gru: Gru) -> None:
        super().__init__()
        self.words = gru.words
        self.ways = nn.ModuleList(_one_way(gru.gru, suffix) for suffix in _suffixes(gru.gru))

    def forward(self, ids: Int[Tensor, "n l"], lengths: Int[Tensor, " n"]) -> Content:
        """Content of texts given as numbers of words, padded, and their lengths."""
        place = torch.arange(ids.shape[1], device=ids.device)[None]
        present = place < lengths[:, None]
        words = self.words(ids) * present[:, :, None].to(self.words.weight.dtype)
        last = (lengths - 1).clamp(min=0)[:, None]
        turned = torch.where(present, last - place, place)
        read = [words, words.gather(1, turned[:, :, None].expand(-1, -1, words.shape[2]))]
        ends = [_end(way(given)[0], last) for way, given in zip(self.ways, read, strict=False)]
        whole = torch.cat(ends, dim=1) * present.any(dim=1, keepdim=True).to(words.dtype)
        return whole, words, present


class Stored(nn.Module):
    """Features that were computed elsewhere: a vector an item, or vectors of its parts."""

    def __init__(self, encoder: Frozen, parts: bool, masked: bool) -> None:
        super().__init__()
        self.unit, self.parts, self.masked = encoder.unit, parts, masked

    def forward(self, values: Tensor, *present: Bool[Tensor, "n l"]) -> Content:
        """Content of items given as features."""
        if not self.parts:
            there = (values.abs().amax(dim=1) > 0)[:, None]
            whole = _unit(values) if self.unit else values
            return whole, whole[:, None], there
        real = present[0] if self.masked else torch.ones_like(values[:, :, 0], dtype=torch.bool)
        kept = values * real[:, :, None].to(values.dtype)
        whole = kept.sum(dim=1) / real.sum(dim=1, keepdim=True).clamp(min=1).to(values.dtype)
        return (_unit(whole), _unit(values), real) if self.unit else (whole, values, real)


class Seen(nn.Module):
    """A backbone that was trained along, on pixels; cells are joined by a product."""

    joined: Tensor

    def __init__(self, encoder: Tuned) -> None:
        super().__init__()
        self.encoder = encoder
        each = torch.eye(GRID * GRID)[None]
        self.register_buffer("joined", coarser(each, encoder.side)[0], persistent=False)

    def forward(self, pixels: Tensor) -> Content:
        """Content of pictures given as 8-bit RGB values."""
        cells = self.encoder.cells(pixels)
        parts = cells if self.encoder.side == GRID else self.joined @ cells
        return cells.mean(dim=1), parts, torch.ones_like(parts[:, :, 0], dtype=torch.bool)


class Looked(nn.Module):
    """A backbone that was not trained along: features of pictures, as the cache keeps them."""

    def __init__(self, encoder: Tuned, parts: bool) -> None:
        super().__init__()
        self.seen, self.parts = Seen(encoder), parts

    def forward(self, pixels: Tensor) -> Tensor:
        """Features of pictures given as 8-bit RGB values."""
        found: Content = self.seen(pixels)
        return found[1].half().float() if self.parts else found[0]


class Read(nn.Module):
    """A sentence encoder that was trained along, on pieces of words."""

    def __init__(self, encoder: TunedSentences) -> None:
        super().__init__()
        self.encoder = encoder

    def forward(self, ids: Int[Tensor, "n l"], lengths: Int[Tensor, " n"]) -> Content:
        """Content of texts given as numbers of pieces, padded, and their lengths."""
        found = self.encoder(ids, lengths)
        return found.whole, found.parts, found.present


def dense(tower: Tower, side: str, senses: int) -> Dense:
    """A tower in a form that can be exported."""
    made: Any = tower.encoder
    if isinstance(made, Gru):
        encoder: nn.Module = Padded(made)
    elif isinstance(made, Frozen):
        encoder = Stored(made, senses > 1, side == "text")
    elif isinstance(made, Tuned):
        encoder = Seen(made)
    elif isinstance(made, TunedSentences):
        encoder = Read(made)
    else:
        raise UsageError(f"export: an encoder '{type(made).__name__}' cannot be exported to ONNX")
    if not isinstance(tower.head, (Linear, PieNet)):
        kind = type(tower.head).__name__
        raise UsageError(f"export: a head '{kind}' cannot be exported to ONNX")
    return Dense(encoder, tower.head).eval()


def _points(
    head: PieNet,
    whole: Float[Tensor, "n h"],
    parts: Float[Tensor, "n l c"],
    present: Bool[Tensor, "n l"],
) -> Float[Tensor, "n k d"]:
    """The K senses of items (`trope.encoders.heads.PieNet`)."""
    scores = head.weigh(torch.tanh(head.look(parts)))
    scores = torch.where(present[:, :, None], scores, torch.full_like(scores, -1e30))
    attended = torch.softmax(scores, dim=1).transpose(1, 2) @ parts
    residuals = torch.sigmoid(head.gather(attended))
    return _unit(head.norm(head.map(whole)[:, None] + residuals))


def _unit(values: Tensor) -> Tensor:
    """Length one; zeros stay zeros."""
    length: Tensor = torch.linalg.vector_norm(values, dim=-1, keepdim=True)
    return values / length.clamp(min=SHORTEST)


def _end(states: Float[Tensor, "n l h"], last: Int[Tensor, "n 1"]) -> Float[Tensor, "n h"]:
    """The state after each text's last word."""
    return states.gather(1, last[:, :, None].expand(-1, -1, states.shape[2]))[:, 0]


def _suffixes(gru: nn.GRU) -> list[str]:
    return ["", "_reverse"] if gru.bidirectional else [""]


def _one_way(gru: nn.GRU, suffix: str) -> nn.GRU:
    """One direction of a GRU as one of its own."""
    made = nn.GRU(gru.input_size, gru.hidden_size, batch_first=True)
    with torch.no_grad():
        for name in ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0"):
            getattr(made, name).copy_(getattr(gru, f"{name}{suffix}"))
    return made

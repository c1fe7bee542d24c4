"""Texts as the states of a GRU after each word: the text encoder of paper 003."""

from __future__ import annotations

from dataclasses import replace

from jaxtyping import Int
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from trope.encoders.content import Content
from trope.encoders.settings import TextSettings
from trope.encoders.words import WordVectors


class GruStates(WordVectors):
    """Word vectors and a GRU over them; its states are the parts, their mean is the whole.

    Texts are packed: padding is neither computed nor seen.
    """

    def __init__(self, vocabulary: int, settings: TextSettings, mask: float = 0.0) -> None:
        super().__init__(vocabulary, settings, mask)
        directions = 2 if settings.bidirectional else 1
        self.gru = nn.GRU(
            settings.words,
            settings.hidden // directions,
            batch_first=True,
            bidirectional=settings.bidirectional,
        )
        self.whole = self.part = settings.hidden

    def forward(self, ids: Int[Tensor, "n l"], lengths: Int[Tensor, " n"]) -> Content:
        """Content of texts given as numbers of words, padded, and their lengths."""
        content = super().forward(ids, lengths)
        assert content.parts is not None
        assert content.present is not None
        packed = pack_padded_sequence(
            content.parts, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
        )
        states, _ = pad_packed_sequence(self.gru(packed)[0], True, total_length=ids.shape[1])
        states = states * content.present[:, :, None]
        whole = states.sum(dim=1) / lengths.clamp(min=1)[:, None]
        return replace(content, whole=whole, parts=states)

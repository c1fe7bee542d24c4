"""Texts as words through a GRU: the text encoder of papers 000, 001 and 004."""

from __future__ import annotations

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.utils.rnn import PackedSequence, pack_padded_sequence

from trope.data.vocabulary import PAD
from trope.encoders.content import Content, Encoder
from trope.encoders.recurrence import last_states
from trope.encoders.settings import TextSettings


class Gru(Encoder):
    """Word vectors and a GRU over them; its last state is the whole, the words are the parts.

    With `states` the parts are the GRU's states at the words, of two directions their mean, each
    direction of the full size; the whole is the mean of the parts.

    Texts are packed: padding is neither computed nor seen. A text without words is the zero vector.
    """

    def __init__(self, vocabulary: int, settings: TextSettings, *, states: bool = False) -> None:
        super().__init__()
        directions = 2 if settings.bidirectional and not states else 1
        self.words = nn.Embedding(vocabulary, settings.words, padding_idx=PAD)
        self.dropout = nn.Dropout(settings.dropout)
        self.gru = nn.GRU(
            settings.words,
            settings.hidden // directions,
            batch_first=True,
            bidirectional=settings.bidirectional,
        )
        self.whole, self.part = settings.hidden, settings.hidden if states else settings.words
        self.states = states
        self._initialize()

    def forward(self, ids: Int[Tensor, "n l"], lengths: Int[Tensor, " n"]) -> Content:
        """Content of texts given as numbers of words, padded, and their lengths."""
        places = torch.arange(ids.numel(), device=ids.device).view_as(ids)
        packed = pack_padded_sequence(
            places, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False
        )
        words = packed._replace(data=self.dropout(self.words(ids.flatten()[packed.data])))
        found = self._states(words) if self.states else words.data
        # All at once: torch's own way back to padded texts copies everything for every length.
        parts = found.new_zeros(ids.numel(), self.part).index_copy(0, packed.data, found)
        parts = parts.view(*ids.shape, self.part)
        present = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
        if self.states:
            parts = parts.masked_fill(~present[:, :, None], 0)
            return Content(parts.sum(dim=1) / lengths.clamp(min=1)[:, None], parts, present)
        return Content(last_states(self.gru, words) * (lengths > 0)[:, None], parts, present)

    def _states(self, words: PackedSequence) -> Float[Tensor, "tokens h"]:
        found: Tensor = self.gru(words)[0].data
        return found.view(len(found), -1, self.part).mean(dim=1)

    def start_from(self, vectors: Float[Tensor, "words d"]) -> None:
        """Use word vectors learned elsewhere; rows of zeros are words unknown there."""
        known = vectors.any(dim=1)
        with torch.no_grad():
            self.words.weight[known] = vectors[known]

    def _initialize(self) -> None:
        for name, parameter in self.gru.named_parameters():
            if "weight" in name:
                nn.init.xavier_uniform_(parameter)
            else:
                nn.init.zeros_(parameter)
        nn.init.xavier_uniform_(self.words.weight)
        with torch.no_grad():
            self.words.weight[PAD] = 0

"""Texts as the vectors of their words, read by nothing yet: for heads that read parts."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from trope.data.vocabulary import PAD
from trope.encoders.content import Content, Encoder
from trope.encoders.masking import MaskedWords
from trope.encoders.settings import TextSettings


class WordVectors(Encoder):
    """A vector for each word; their mean is the whole. A text without words is the zero vector.

    A share `mask` of the words of each text is masked in training.
    """

    def __init__(self, vocabulary: int, settings: TextSettings, mask: float = 0.0) -> None:
        super().__init__()
        self.mask = MaskedWords(vocabulary, mask) if mask else None
        rows = vocabulary + (1 if mask else 0)
        self.words = nn.Embedding(rows, settings.words, padding_idx=PAD)
        self.dropout = nn.Dropout(settings.dropout)
        self.whole = self.part = settings.words

    def forward(self, ids: Int[Tensor, "n l"], lengths: Int[Tensor, " n"]) -> Content:
        """Content of texts given as numbers of words, padded, and their lengths."""
        present = torch.arange(ids.shape[1], device=ids.device) < lengths[:, None]
        read, masked = self.covered(ids, present)
        parts = self.dropout(self.words(read)) * present[:, :, None]
        whole = parts.sum(dim=1) / lengths.clamp(min=1)[:, None]
        targets = None if masked is None else ids
        return Content(whole, parts, present, masked=masked, targets=targets)

    def covered(
        self, ids: Int[Tensor, "n l"], present: Bool[Tensor, "n l"]
    ) -> tuple[Int[Tensor, "n l"], Bool[Tensor, "n l"] | None]:
        """The words that are read: in training some of them masked."""
        if self.mask is None or not self.training:
            return ids, None
        found: tuple[Tensor, Tensor] = self.mask(ids, present)
        return found

    def start_from(self, vectors: Float[Tensor, "words d"]) -> None:
        """Use word vectors learned elsewhere; rows of zeros are words unknown there."""
        known = vectors.any(dim=1)
        with torch.no_grad():
            self.words.weight[: len(vectors)][known] = vectors[known]

"""A sentence encoder that is trained along with the heads."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Bool, Int
from torch import Tensor, nn

from trope.encoders.content import Content, Pretrained, drop_channels
from trope.encoders.inputs import Words
from trope.encoders.unused import freeze_unused
from trope.features.sentences import sentence_encoder


class TunedSentences(Pretrained):
    """Pieces of words through a transformer; its sentence vector is the whole, pieces the parts."""

    def __init__(self, name: str, dropout: float) -> None:
        super().__init__()
        network = sentence_encoder(name).network
        self.network, self.dropout = network, nn.Dropout(dropout)
        self.whole = self.part = int(network.get_embedding_dimension())
        with torch.enable_grad():
            some = torch.zeros(1, 2, dtype=torch.int64)
            freeze_unused(self.network, *self._vectors(some, some == 0))

    def forward(self, ids: Int[Tensor, "n l"], lengths: Int[Tensor, " n"]) -> Content:
        """Content of texts given as numbers of pieces, padded, and their lengths."""
        present = torch.arange(ids.shape[1], device=ids.device) < lengths.clamp(min=1)[:, None]
        whole, parts = self._vectors(ids, present)
        return drop_channels(self.dropout, Content(whole, parts, present))

    def _vectors(self, ids: Int[Tensor, "n l"], present: Bool[Tensor, "n l"]) -> list[Tensor]:
        found = self.network({"input_ids": ids, "attention_mask": present.long()})
        return [found["sentence_embedding"], found["token_embeddings"]]


def pieces(texts: list[str], name: str, longest: int) -> Words:
    """Texts as the pieces of words that an encoder knows, cut after the longest it takes."""
    network = sentence_encoder(name).network
    limit = min(longest, int(network.max_seq_length or longest))
    found = (
        network.tokenizer(texts, truncation=True, max_length=limit)["input_ids"] if texts else []
    )
    return Words.of(np.asarray(ids, np.int64) for ids in found)

"""The space of a frozen sentence encoder: texts that mean alike are near."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

from trope.data.digests import digest
from trope.data.pairs import Pairs
from trope.data.text import TextPreparation, prepare
from trope.features.sentences import SentenceEncoder, sentence_encoder
from trope.runtime import cache_folder
from trope.spaces.cached import cached_vectors
from trope.spaces.vectors import Vectors, texts_fingerprint


@dataclass(frozen=True)
class Sentence:
    """Vectors of texts from `minilm`, or from a model in a folder or stored on this machine."""

    encoder: str = "minilm"
    preparation: TextPreparation = field(default_factory=lambda: TextPreparation(lower=False))
    device: str = "cpu"

    name: str = field(default="sentence", init=False)

    def vectors(self, pairs: Pairs) -> Vectors:
        """A vector for every text; zeros for an empty one."""
        network = sentence_encoder(self.encoder, device=self.device)
        texts, owners = pairs.flat_texts()
        prepared = [prepare(text, self.preparation) for text in texts.to_pylist()]
        folder = folder_of(network)
        values, remarks = cached_vectors(
            folder, prepared, network.encode, f"{network.name}: vectors of texts"
        )
        if empty := int((~values.any(axis=1)).sum()):
            remarks = (*remarks, f"{empty:,} texts are empty, and so have no neighbors")
        return Vectors(values, owners, folder.name, texts_fingerprint(texts), remarks)


def folder_of(network: SentenceEncoder) -> Path:
    """Where an encoder's vectors are kept; other weights, another folder."""
    name = re.sub(r"[^\w.-]+", "-", Path(network.name).name) or "model"
    return cache_folder() / "spaces" / f"{name}-{digest(network.fingerprint().encode()).hex()}"

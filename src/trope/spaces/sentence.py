"""The space of a frozen sentence encoder: texts that mean alike are near.

To an encoder all texts in a script it never learned are the same: unknown words. They would be each
other's nearest neighbors, so they get none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import regex
from jaxtyping import Bool

from trope.data.pairs import Pairs
from trope.data.text import TextPreparation, prepare, tokenize
from trope.features.sentences import SentenceEncoder, sentence_encoder
from trope.features.texts import sentence_features, sentences_folder
from trope.spaces.vectors import Vectors, texts_fingerprint
from trope.wording import counted

_FAMILIAR = regex.compile(r"[a-z0-9]", regex.IGNORECASE)  # no encoder lacks these


@dataclass(frozen=True)
class Sentence:
    """Vectors of texts from `minilm`, or from a model in a folder or stored on this machine."""

    encoder: str = "minilm"
    preparation: TextPreparation = field(default_factory=lambda: TextPreparation(lower=False))
    device: str = "cpu"

    name: str = field(default="sentence", init=False)

    def vectors(self, pairs: Pairs) -> Vectors:
        """A vector for every text; zeros for one that is empty or in a script nobody taught it."""
        network = sentence_encoder(self.encoder, device=self.device)
        texts, owners = pairs.flat_texts()
        prepared = [prepare(text, self.preparation) for text in texts.to_pylist()]
        values, remarks = sentence_features(prepared, network)
        space = sentences_folder(network).name
        if empty := int((~values.any(axis=1)).sum()):
            remarks = (
                *remarks,
                f"{counted(empty, 'text is', 'texts are')} empty, and so without neighbors",
            )
        strange = unknown(network, prepared)
        if count := int(strange.sum()):
            values[strange] = 0
            why = f"{network.name} knows no word of them"
            remarks = (*remarks, f"{counted(count, 'text has', 'texts have')} no neighbors: {why}")
        return Vectors(values, owners, space, texts_fingerprint(texts), remarks)


def unknown(network: SentenceEncoder, texts: Sequence[str]) -> Bool[np.ndarray, " texts"]:
    """Which texts have words, and not one that the encoder knows; the network is seldom loaded."""
    strange = np.zeros(len(texts), bool)
    words = {i: tokenize(text) for i, text in enumerate(texts) if not _FAMILIAR.search(text)}
    spelled = {i: " ".join(found) for i, found in words.items() if found}
    mark = getattr(network.network.tokenizer, "unk_token_id", None) if spelled else None
    if mark is None:
        return strange
    read = network.network.tokenizer(
        list(spelled.values()), add_special_tokens=False, truncation=True
    )
    strange[list(spelled)] = [set(tokens) <= {mark} for tokens in read["input_ids"]]
    return strange

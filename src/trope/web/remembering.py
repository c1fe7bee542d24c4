"""A model that remembers where it put the last texts and pictures.

Everyone types the same words again: back, forward, another page, another filter.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import torch

from trope.checkpoints import Checkpoint
from trope.embedder import BATCH, Embedder, Picture
from trope.encoders.joining import join
from trope.recent import Recent
from trope.views import Encoded

KEPT = 4_096  # texts and pictures
HEAVIEST = 64 * 2**20  # bytes of all of them; with its parts one may have hundreds of thousands


class Remembering(Embedder):
    """An embedder for a server, which many threads may ask."""

    def __init__(self, model: Checkpoint | str | Path) -> None:
        super().__init__(model)
        self.checkpoint.model.eval()  # or threads would switch it to and fro under each other
        self.kept: Recent[tuple[bool, bytes], Encoded] = Recent(KEPT, HEAVIEST, weight)

    def texts(self, texts: Sequence[str], batch: int = BATCH, *, parts: bool = False) -> Encoded:
        """Where the model puts texts, with their parts if these are asked for."""
        encode = super().texts
        return self._found(texts, parts, lambda some: encode(some, batch, parts=parts))

    def images(
        self, images: Sequence[Picture], batch: int = BATCH, *, parts: bool = False
    ) -> Encoded:
        """Where the model puts pictures."""
        encode = super().images
        return self._found(images, parts, lambda some: encode(some, batch, parts=parts))

    def _found(
        self, items: Sequence[Any], parts: bool, encode: Callable[[list[Any]], Encoded]
    ) -> Encoded:
        keys = [(parts, _name(item)) for item in items]
        known = {key: self.kept.get(key) for key in keys}
        new = {key: item for key, item in zip(keys, items, strict=True) if known[key] is None}
        if new:
            made = encode(list(new.values()))
            for place, key in enumerate(new):  # a copy: a slice would keep all that were made
                known[key] = self.kept.put(key, made.take(torch.tensor([place])))
        found = [part for key in keys if (part := known[key]) is not None]
        return found[0] if len(found) == 1 else join(found)


def weight(encoded: Encoded) -> int:
    """How many bytes it takes."""
    known = (getattr(encoded, field.name) for field in fields(encoded))
    return sum(value.nbytes for value in known if value is not None)


def _name(item: Any) -> bytes:
    """A short name of what is encoded: a text, or decoded pixels."""
    if isinstance(item, np.ndarray):
        return b"p" + hashlib.blake2b(item.tobytes(), digest_size=16).digest()
    if isinstance(item, bytes):
        return b"b" + hashlib.blake2b(item, digest_size=16).digest()
    text = str(item).encode("utf-8", "surrogatepass")
    return b"t" + hashlib.blake2b(text, digest_size=16).digest()

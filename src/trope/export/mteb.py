"""A trained model as `mteb` wants its models (Massive Text Embedding Benchmark, 2.x)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Float32

from trope.checkpoints import Checkpoint
from trope.embedder import Embedder

Vectors = Float32[np.ndarray, "items d"]


class MtebModel:
    """Encodes batches of texts, of pictures, or of both; the vectors of both are averaged."""

    mteb_model_meta: Any = None

    def __init__(self, model: Checkpoint | str | Path) -> None:
        self.embedder = Embedder(model)

    def encode(self, inputs: Iterable[Mapping[str, Any]], **_: Any) -> Vectors:
        """Vectors of length one; what else `mteb` tells about its task changes nothing."""
        found = [self._batch(batch) for batch in inputs]
        return np.concatenate(found) if found else np.empty((0, self.embedder.size), np.float32)

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Cosines of all with all."""
        return np.asarray(embeddings1) @ np.asarray(embeddings2).T

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Any:
        """Cosines of each with the one beside it."""
        return (np.asarray(embeddings1) * np.asarray(embeddings2)).sum(axis=1)

    def _batch(self, batch: Mapping[str, Any]) -> Vectors:
        sides = [batch[name] for name in ("text", "image") if name in batch]
        summed = np.sum([self.embedder.encode(list(side)) for side in sides], axis=0)
        length = np.linalg.norm(summed, axis=1, keepdims=True)
        return np.asarray(summed / np.maximum(length, 1e-12), np.float32)

"""A trained model as `mteb` wants its encoders (Massive Text Embedding Benchmark, 2.x).

`mteb.evaluate(MtebModel("run"), tasks)` runs its tasks of texts, of pictures and of both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import torch
from jaxtyping import Float, Float32
from torch import Tensor

from trope.checkpoints import Checkpoint
from trope.embedder import Embedder
from trope.encoders.plan import Plan
from trope.errors import UsageError

Vectors = Float32[np.ndarray, "items d"]


class MtebModel:
    """Encodes batches of texts, of pictures, or of both; the vectors of both are averaged.

    `name` and `revision` are what results are filed under. What `mteb` tells besides (a device,
    prompts, its task) changes nothing.
    """

    def __init__(
        self,
        model: Checkpoint | str | Path,
        revision: str | None = None,
        *,
        name: str = "trope/model",
        **_: Any,
    ) -> None:
        self.embedder, self.name, self.revision = Embedder(model), name, revision or "local"

    @cached_property
    def mteb_model_meta(self) -> Any:
        """What `mteb` files results under; None where it is not installed."""
        if find_spec("mteb") is None:
            return None
        about = {
            "name": self.name,
            "revision": self.revision,
            "embed_dim": self.embedder.size,
            "modalities": _modalities(self.embedder.checkpoint.plan),
            "framework": ["PyTorch"],
        }
        return import_module("mteb.models.model_meta").ModelMeta.create_empty(about)

    def encode(self, inputs: Iterable[Mapping[str, Any]], **_: Any) -> Vectors:
        """Vectors of length one."""
        found = [self._batch(batch) for batch in inputs]
        return np.concatenate(found) if found else np.empty((0, self.embedder.size), np.float32)

    def similarity(self, embeddings1: Any, embeddings2: Any) -> Float[Tensor, "n m"]:
        """Cosines of all with all."""
        return _rows(embeddings1) @ _rows(embeddings2).T

    def similarity_pairwise(self, embeddings1: Any, embeddings2: Any) -> Float[Tensor, " n"]:
        """Cosines of each with the one beside it."""
        return (_rows(embeddings1) * _rows(embeddings2)).sum(dim=1)

    def _batch(self, batch: Mapping[str, Any]) -> Vectors:
        sides = [batch[name] for name in ("text", "image") if name in batch]
        if not sides:
            raise UsageError(f"mteb: a batch has neither text nor image, but {', '.join(batch)}")
        summed = np.sum([self.embedder.encode(list(side)) for side in sides], axis=0)
        length = np.linalg.norm(summed, axis=1, keepdims=True)
        return np.asarray(summed / np.maximum(length, 1e-12), np.float32)


def _rows(vectors: Any) -> Tensor:
    """Vectors one below the other, where there may be one alone."""
    found = torch.as_tensor(vectors)
    return found[None] if found.ndim == 1 else found


def _modalities(plan: Plan) -> list[str]:
    """What can be asked with; features that come with a data set cannot."""
    said = plan.text.encoder != "precomputed"
    shown = plan.image.encoder == "tuned" or plan.image.backbone != "precomputed"
    return [name for name, can in (("text", said), ("image", shown)) if can]

"""How well a trained model retrieves: both directions, c-way tasks and the full gallery.

An item that is also right (a text of the same picture, the same text elsewhere) never counts as
wrong. Intervals are bootstrapped over queries.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Bool, Float, Int
from scipy import sparse

from trope.checkpoints import Checkpoint
from trope.data.pairs import Pairs
from trope.data.samples import Samples, samples
from trope.encoders import encode
from trope.metrics import Places, mean_rank_in_task, places, recall_in_task
from trope.runtime import generator
from trope.similarity import similarity
from trope.views import Encoded

WAYS = (5, 20, 100)
CUTS = (1, 5, 10)
DRAWS = 1_000

Values = Float[np.ndarray, " queries"]
Numbers = Int[np.ndarray, " items"]
Rows = Int[np.ndarray, " rows"]


@dataclass(frozen=True)
class Result:
    """A mean over queries, and the bounds of its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Evaluation:
    """Results by direction and name, over so many pictures and texts."""

    image_to_text: dict[str, Result]
    text_to_image: dict[str, Result]
    images: int
    texts: int

    def document(self) -> dict[str, Any]:
        """As plain values."""
        sides = {"image_to_text": self.image_to_text, "text_to_image": self.text_to_image}
        found: dict[str, Any] = {
            side: {name: asdict(result) for name, result in results.items()}
            for side, results in sides.items()
        }
        return found | {"images": self.images, "texts": self.texts}


def evaluate(
    checkpoint: Checkpoint, pairs: Pairs, split: str = "test", ways: Iterable[int] = WAYS
) -> Evaluation:
    """Encode a split once, then every measurement in both directions."""
    pictures = checkpoint.plan.pictures(pairs)
    texts = checkpoint.plan.texts(pairs)
    chosen = samples(pairs, pictures.rows, split)
    found = np.unique(chosen.images)
    image = encode(checkpoint.model.image, pictures.inputs, found)
    text = encode(checkpoint.model.text, texts.inputs, chosen.texts)
    right = positives(chosen, found)
    return Evaluation(
        _direction(image, text, right, tuple(ways)),
        _direction(text, image, right.T.tocsr(), tuple(ways)),
        len(found),
        len(chosen),
    )


def positives(chosen: Samples, images: Numbers) -> sparse.csr_matrix:
    """Which texts are right for which of the pictures: those of it, and their equals elsewhere."""
    rows = np.searchsorted(images, chosen.images)
    _, code = np.unique(chosen.meaning, return_inverse=True)
    ones = np.ones(len(code), np.int32)
    by_code = sparse.csr_matrix((ones, (rows, code)), (len(images), int(code.max()) + 1))
    texts = sparse.csr_matrix((ones, (code, np.arange(len(code)))))
    return (by_code @ texts).astype(bool).tocsr()


def _direction(
    queries: Encoded, items: Encoded, right: sparse.csr_matrix, ways: tuple[int, ...]
) -> dict[str, Result]:
    """All measurements of one direction, from one pass over the scores."""
    found = places(
        lambda rows: _scores(queries, items, rows),
        lambda rows: _dense(right, rows),
        len(queries.mean),
        len(items.mean),
    )
    return {name: summary(values) for name, values in _measured(found, ways).items()}


def _measured(found: Places, ways: tuple[int, ...]) -> dict[str, Values]:
    """A number per query for each measurement; tasks larger than the gallery are left out."""
    most = int(found.others.min()) + 1
    measured: dict[str, Values] = {}
    for way in (way for way in ways if way <= most):
        for k in (1, 3):
            measured[f"recall@{k}/{way}-way"] = recall_in_task(found, way, k)
        measured[f"mean-rank/{way}-way"] = mean_rank_in_task(found, way)
    for cut in CUTS:
        measured[f"recall@{cut}"] = _within(found, cut)
    return measured | {"mean-rank": found.above + found.tied / 2}


def _within(found: Places, cut: int) -> Values:
    """The chance to be among the first `cut`; equal scores stand in random order."""
    return np.asarray(np.clip((cut - found.above) / (found.tied + 1), 0.0, 1.0))


def summary(values: Values, seed: int = 0) -> Result:
    """The mean over queries, and the middle 95 % of the means of redrawn queries."""
    random = generator(seed, "bootstrap")
    block = max(1, 2**23 // max(len(values), 1))
    means = [
        values[random.integers(0, len(values), (min(block, DRAWS - start), len(values)))].mean(1)
        for start in range(0, DRAWS, block)
    ]
    low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
    return Result(float(values.mean()), float(low), float(high))


def _scores(queries: Encoded, items: Encoded, rows: Rows) -> Float[np.ndarray, "rows items"]:
    part = torch.from_numpy(rows).to(queries.mean.device)
    points = None if queries.points is None else queries.points[part]
    return np.asarray(similarity(Encoded(queries.mean[part], points), items).float().cpu().numpy())


def _dense(right: sparse.csr_matrix, rows: Rows) -> Bool[np.ndarray, "rows items"]:
    return np.asarray(right[rows].toarray())


__all__ = ["Evaluation", "Result", "evaluate", "positives", "summary"]

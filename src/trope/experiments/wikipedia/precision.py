"""How well the methods of 2010 retrieve: mean average precision by category."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any, TypeAlias

import numpy as np
import torch
from jaxtyping import Float, Int

from trope.data.labels import labels_of_rows
from trope.data.pairs import Pairs
from trope.evaluation.comparison import compare
from trope.evaluation.embedded import Embedded
from trope.evaluation.gallery import gallery
from trope.evaluation.measuring import DIRECTIONS, direction_of
from trope.evaluation.passes import measured
from trope.experiments.wikipedia.classic import Both, Features, classic
from trope.features import Precomputed
from trope.maths import normalize
from trope.metrics.semantic import SemanticMAP
from trope.views import Encoded

SPLITS = ("train", "val", "test")

Precisions: TypeAlias = Float[np.ndarray, " queries"]


def classic_precision(pairs: Pairs) -> dict[str, Any]:
    """Of each method what was chosen on validation, and its figures on the test split."""

    def on_validation(both: Both) -> float:
        found = precisions(pairs, "val", both)
        return float(np.mean([np.nanmean(values) for values in found.values()]))

    return {
        name: {
            "chosen": options,
            **{way: _told(some) for way, some in precisions(pairs, "test", both).items()},
        }
        for name, (options, both) in classic(features(pairs), on_validation).items()
    }


def features(pairs: Pairs) -> Features:
    """The stored features of each split, standardized as training has them."""
    tables = Precomputed().images(pairs), Precomputed().texts(pairs)
    values = [table.read(table.rows).astype(np.float64) for table in tables]
    inside = {name: np.asarray(pairs.column("split").to_pylist()) == name for name in SPLITS}
    train = inside["train"]
    scaled = [(v - v[train].mean(axis=0)) / (v[train].std(axis=0) + 1e-9) for v in values]
    of = {name: (scaled[0][rows], scaled[1][rows]) for name, rows in inside.items()}
    return Features(of, _categories(pairs)[train])


def precisions(pairs: Pairs, name: str, both: Both) -> dict[str, Precisions]:
    """The average precision of every query of a split, by direction."""
    image, text = (_encoded(side) for side in both)
    embedded = Embedded(gallery(pairs, np.arange(len(pairs)), name), image, text)
    return {
        way: measured(direction_of(embedded, side), [SemanticMAP()]).values["semantic-map"]
        for way, side in DIRECTIONS.items()
    }


def _encoded(values: Float[np.ndarray, "items d"]) -> Encoded:
    return Encoded(normalize(torch.from_numpy(np.ascontiguousarray(values)).float()))


def _categories(pairs: Pairs) -> Int[np.ndarray, " rows"]:
    return np.asarray(labels_of_rows(pairs)[0].argmax(axis=1)).ravel()


def _told(values: Precisions) -> dict[str, Any]:
    """A mean with its interval over queries."""
    found = asdict(compare(values[None], np.zeros_like(values)[None], np.arange(len(values))))
    return {"value": found["difference"], "low": found["low"], "high": found["high"]}

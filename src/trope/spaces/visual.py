"""The space of pictures: pooled features of a frozen backbone ("image neighbors" of paper 004)."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field

import numpy as np

from trope.data.pairs import Pairs
from trope.features import FeatureTable, features
from trope.spaces.vectors import Vectors
from trope.wording import counted


@dataclass(frozen=True)
class Visual:
    """A vector per row, that of its picture; the backbone by name."""

    backbone: str = "efficientnet-lite0"

    name: str = field(default="visual", init=False)

    def vectors(self, pairs: Pairs) -> Vectors:
        """The vector of every row's picture; zeros for a row without one that can be used."""
        table = features(pairs, self.backbone, "pooled")
        values = _spread(table)
        remarks = list(table.remarks)
        if lacking := int((table.rows < 0).sum()):
            rows_without = counted(lacking, "row has", "rows have")
            remarks.append(f"{rows_without} no usable picture, and so no neighbors")
        mark = hashlib.blake2b(values.data, digest_size=16).hexdigest()
        rows = np.arange(len(pairs))
        return Vectors(values, rows, f"visual-{self.backbone}", mark, tuple(remarks))


def _spread(table: FeatureTable) -> np.ndarray:
    """Features by row: equal pictures have equal vectors."""
    values = np.zeros((len(table.rows), *table.shape), np.float32)
    there = table.rows >= 0
    values[there] = table.read(table.rows[there])
    return values

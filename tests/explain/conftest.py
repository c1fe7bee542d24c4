"""No network and no worker processes: a picture's features are its few pixels."""

from __future__ import annotations

import numpy as np
import pytest

from trope.data.images import decode
from trope.data.pairs import Pairs
from trope.errors import DataError
from trope.spaces import Vectors, Visual


@pytest.fixture(autouse=True)
def _few_pixels(monkeypatch: pytest.MonkeyPatch) -> None:
    def vectors(_: Visual, pairs: Pairs) -> Vectors:
        values = np.zeros((len(pairs), 48), np.float32)
        for row in np.flatnonzero(pairs.has_image).tolist():
            try:
                values[row] = 1 + decode(pairs.images.read(row), size=4).ravel()
            except DataError:
                continue
        lacking = int((~values.any(axis=1)).sum())
        remarks = (f"{lacking} rows have no usable picture",) if lacking else ()
        return Vectors(values, np.arange(len(pairs)), "pixels", "data", remarks)

    monkeypatch.setattr(Visual, "vectors", vectors)

"""Texts that are known by a stored vector, with or without their words.

A data set may come as features alone (`text_feature` is a row of `features/text.npy`). To be asked
and found each such text needs a place among the texts: it gets a name where it has no words.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from jaxtyping import Bool

from trope.data.pairs import Pairs
from trope.data.schema import LISTS

COLUMN = "text_feature"


def named_texts(pairs: Pairs) -> Pairs:
    """Each row with a stored vector has one text, its first or a name; other rows have none."""
    rows = zip(pairs.column(COLUMN).to_pylist(), pairs.column("texts").to_pylist(), strict=True)
    texts = [
        [] if place is None else said[:1] or [f"features/text.npy[{place}]"] for place, said in rows
    ]
    return pairs.with_column("texts", pa.chunked_array([pa.array(texts, LISTS)]))


def wordless(pairs: Pairs) -> Bool[np.ndarray, " rows"]:
    """Which rows have a stored vector of a text, and no words."""
    return np.asarray(np.asarray(pairs.column(COLUMN).is_valid()) & (pairs.text_counts == 0))

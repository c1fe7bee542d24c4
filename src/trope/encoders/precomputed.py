"""Features that come with a data set as inputs: vectors of texts, regions of pictures in boxes."""

from __future__ import annotations

import torch

from trope.data.pairs import Pairs
from trope.encoders.boxes import with_area
from trope.encoders.inputs import Boxed, Inputs, Rows, stored
from trope.features import FeatureTable, Precomputed
from trope.features.kinds import Kind


def stored_texts(pairs: Pairs, parts: bool) -> tuple[Rows, int, bool]:
    """The stored vectors of each text's row, their size, and whether a text has several."""
    kind: Kind = Precomputed().kind(pairs, "text") if parts else "pooled"
    table = Precomputed().texts(pairs, kind)
    values = table.read(table.rows[pairs.flat_texts()[1]])
    return Rows(torch.from_numpy(values)), table.shape[-1], kind == "tokens"


def boxed(table: FeatureTable, pairs: Pairs) -> Inputs | None:
    """Regions of pictures and where they are, if that is known."""
    boxes = Precomputed().boxes(pairs)
    return None if boxes is None else Boxed(stored(table), with_area(torch.from_numpy(boxes)))

"""What a model is fed for one split: features of other rows are not computed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from jaxtyping import Int

from trope.data.pairs import Pairs
from trope.encoders import Plan, encode
from trope.encoders.inputs import Inputs
from trope.encoders.model import Model
from trope.encoders.pixels import Pixels
from trope.evaluation.gallery import rows_of
from trope.views import Encoded

Numbers: TypeAlias = Int[np.ndarray, " _items"]


@dataclass(frozen=True, eq=False)
class Fed:
    """Pictures and texts of some rows as inputs, which are named by the numbers of all rows.

    `rows` is the picture of each row of the data, -1 for none and for rows of other splits;
    `texts` are the texts that are there, by their number among all of the data. `failed` says of a
    row why its picture cannot be used.
    """

    rows: Int[np.ndarray, " rows"]
    texts: Int[np.ndarray, " texts"]
    image_inputs: Inputs = field(repr=False)
    text_inputs: Inputs = field(repr=False)
    failed: Mapping[int, str] = field(default_factory=dict)

    def encoded(
        self, model: Model, images: Numbers, texts: Numbers, *, parts: bool = True
    ) -> tuple[Encoded, Encoded]:
        """Where a model puts some of the pictures, and some of the texts by number."""
        places = np.searchsorted(self.texts, texts)
        return (
            encode(model.image, self.image_inputs, images, parts=parts),
            encode(model.text, self.text_inputs, places, parts=parts),
        )


def fed(plan: Plan, pairs: Pairs, split: str) -> Fed:
    """The rows of a split as inputs."""
    rows = rows_of(pairs, split)
    part = pairs.take(rows)
    pictures, owners = plan.pictures(part), pairs.flat_texts()[1]
    shown = np.full(len(pairs), -1)
    shown[rows] = pictures.rows
    inputs = pictures.inputs
    if isinstance(inputs, Pixels):  # decoded later: what fails then is named by its row
        inputs = replace(inputs, store=pairs.images, rows=rows[inputs.rows])
    return Fed(
        shown,
        np.flatnonzero(np.isin(owners, rows)),
        inputs,
        plan.texts(part).inputs,
        {int(rows[row]): why for row, why in pictures.failed},
    )

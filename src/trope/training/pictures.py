"""Pictures that are decoded in every epoch are decoded once before the first: none fails later."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trope.data.loading import ImageBatches
from trope.data.pairs import Pairs
from trope.encoders.pixels import Pixels
from trope.encoders.plan import Pictures
from trope.runtime import progress


def usable(pictures: Pictures, pairs: Pairs, *splits: str) -> Pictures:
    """The same pictures without those of the splits that cannot be decoded, which are told."""
    inputs = pictures.inputs
    if not isinstance(inputs, Pixels):
        return pictures  # features have been computed: what failed is known
    inside = pc.is_in(pairs.column("split"), value_set=pa.array(splits))
    shown = pictures.rows[np.asarray(inside) & (pairs.text_counts > 0)]
    rows = inputs.rows[np.unique(shown[shown >= 0])]
    batches = ImageBatches(inputs.store, rows, inputs.size, workers=inputs.workers)
    failed = [bad for batch in progress(batches, "decoding pictures") for bad in batch.failed]
    broken = np.isin(pictures.rows, pictures.rows[[row for row, _ in failed]])
    return pictures._replace(
        rows=np.where(broken, -1, pictures.rows), failed=(*pictures.failed, *failed)
    )

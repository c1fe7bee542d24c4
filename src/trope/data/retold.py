"""The same pictures with other texts: a column of the data takes the place of its texts."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trope.data.pairs import Pairs
from trope.data.schema import LISTS
from trope.errors import DataError, UsageError


def retold(pairs: Pairs, column: str) -> Pairs:
    """The rows that have something in `column`, with that for a text.

    They get no split: other texts connect other rows, so that splits are to be made anew.
    """
    values = pairs.column(column).combine_chunks()
    if not pa.types.is_string(values.type):
        raise UsageError(f"{pairs.source}: column '{column}' holds no texts but {values.type}")
    kept = pairs.where(
        np.asarray(pc.fill_null(pc.not_equal(pc.utf8_trim_whitespace(values), ""), False))
    )
    if not len(kept):
        raise DataError(f"{pairs.source}: no row has a text in column '{column}'")
    told = kept.column(column).combine_chunks()
    texts = pa.ListArray.from_arrays(np.arange(len(kept) + 1, dtype=np.int32), told)
    nowhere = pa.nulls(len(kept), kept.column("split").type)
    return kept.with_column("texts", texts.cast(LISTS)).with_column("split", nowhere)

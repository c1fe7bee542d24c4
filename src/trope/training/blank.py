"""Training texts in which there is nothing to learn from."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow.compute as pc

from trope.data.pairs import Pairs
from trope.data.samples import Samples

WORD = r"[\pL\pN]"  # a letter or a digit of any script


def told_of_blank(pairs: Pairs, train: Samples) -> Iterator[str]:
    """How many training texts have no word, if any; training takes them as they are."""
    texts = pairs.flat_texts()[0].take(np.unique(train.texts))
    blank = len(texts) - int(pc.sum(pc.match_substring_regex(texts, WORD)).as_py() or 0)
    if blank:
        yield (
            f"texts without a word: {blank:,} of {len(texts):,} in 'train'; they are like nothing, "
            "and nothing is learned from them"
        )

"""Rows of a split that are not asked: how many, why, and where the first of them stands."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from jaxtyping import Int

from trope.data.identity import codes, same_text
from trope.data.labels import labels_of_rows
from trope.data.pairs import Pairs
from trope.data.unusable import unusable
from trope.evaluation.embedded import Embedded, Source
from trope.evaluation.gallery import rows_of
from trope.wording import counted

_NONE: Mapping[int, str] = MappingProxyType({})


def left_out(
    pairs: Pairs,
    pictures: Int[np.ndarray, " rows"],
    split: str,
    failed: Mapping[int, str] = _NONE,
) -> tuple[str, ...]:
    """A remark for each reason; `pictures` is the number of each row's picture, -1 for none."""
    texts, owners = pairs.flat_texts()
    said = np.bincount(owners[codes(texts, same_text) >= 0], minlength=len(pairs)) > 0
    rows = rows_of(pairs, split)
    unseen = rows[pictures[rows] < 0]
    broken = np.isin(unseen, np.fromiter(failed, np.int64, len(failed)))
    reasons = {
        "a picture that cannot be used": unseen[broken],
        "no picture": unseen[~broken],
        "no text": np.setdiff1d(rows[~said[rows]], unseen),
    }
    return tuple(
        f"{counted(len(some), 'row')} of split '{split}' left out, with {why}: "
        + _first(pairs, some, failed)
        for why, some in reasons.items()
        if len(some)
    )


def unlabeled_split(source: Source, embedded: Embedded, split: str) -> str:
    """That a split has no labels, where the model or other rows of the data have some."""
    if source.pairs is None or embedded.gallery.labels is not None:
        return ""
    if labels_of_rows(source.pairs)[0].nnz:
        return f"no picture of split '{split}' has labels, though others of the data have"
    return "" if embedded.predicted is None else "the data has no labels"


def _first(pairs: Pairs, rows: Int[np.ndarray, " some"], failed: Mapping[int, str]) -> str:
    first = int(rows[0])
    told = f"row '{pairs.ids[first]}' ({pairs.place(first)})"
    if first in failed:
        told = str(unusable(pairs, first, failed[first]))
    return f"the first is {told}" if len(rows) > 1 else told

"""Pairs as they stand small on a page: picture, text, and a line about them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from trope.data.pairs import Pairs
from trope.types import Pair


@dataclass(frozen=True)
class Card:
    """A pair with a `note` of numbers and, where it stands out, a `mark`."""

    row: int
    id: str
    text: str
    note: str
    mark: str = ""


def card(pairs: Pairs, row: int, note: str = "", mark: str = "") -> Card:
    """The card of a row, with the first of its texts."""
    pair = pairs[row]
    return Card(row, pair.id, pair.texts[0] if pair.texts else "", note, mark)


def text_card(pairs: Pairs, text: int, note: str = "") -> Card:
    """The card of a text, by its number among all texts one after the other, and of its row."""
    counts = pairs.text_counts
    ends = np.cumsum(counts)
    row = int(np.searchsorted(ends, text, "right"))
    pair = pairs[row]
    return Card(row, pair.id, pair.texts[text - int(ends[row] - counts[row])], note)


def about(pair: Pair) -> dict[str, str]:
    """What else is known of a pair, in words."""
    known = {"split": pair.split, "group": pair.group, "labels": ", ".join(pair.labels)}
    return {name: value for name, value in known.items() if value}

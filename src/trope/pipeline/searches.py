"""A few searches to end a job with: what it can find now."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from trope.data.pairs import Pairs
from trope.errors import DataError, UsageError
from trope.index.folder import FILE
from trope.index.job import Indexed, build
from trope.runtime import generator, remark
from trope.search import Index, Results

FOUND = 3  # hits of a search
TRIED = 500  # rows for each search that is wanted: of a model that takes no words, all are in vain


@dataclass(frozen=True)
class Search:
    """What was asked, as a command would ask it, and what was found.

    `about` is the label that was meant, where one was; `share` is how many of all items have it.
    """

    title: str
    results: Results
    about: str = ""
    share: float = 0.0

    @property
    def right(self) -> int:
        """How many hits have the label that was meant."""
        return sum(self.about in (hit.row.get("labels") or ()) for hit in self.results)

    def document(self) -> dict[str, object]:
        """For programs."""
        counted = {"about": self.about, "right": self.right, "share": self.share}
        return self.results.document() | (counted if self.about else {})


def indexed(run: Path, pairs: Pairs, folder: Path) -> Indexed | None:
    """An index of the pairs, unless it is there already."""
    return None if (folder / FILE).exists() else build(run, pairs, folder)


def by_words(index: Index, words: Sequence[str], minus: Sequence[str] = (), **asked: Any) -> Search:
    """Pictures for words."""
    results = index.search(words, minus=minus, **{"k": FOUND, **asked})
    title = " and ".join(f"“{word}”" for word in words)
    return Search(title + "".join(f" minus “{word}”" for word in minus), results)


def by_rows(index: Index, pairs: Pairs, count: int = 2, **asked: Any) -> list[Search]:
    """Searches with texts and a picture of the data itself, of rows that were not learned from."""
    held = np.flatnonzero([split == "test" for split in pairs.column("split").to_pylist()])
    rows = held if len(held) else np.arange(len(pairs))
    drawn = rows[generator(0, "searches").permutation(len(rows))].tolist()
    return [*_said(index, pairs, drawn, count, asked), *_shown(index, pairs, drawn, asked)]


def _said(
    index: Index, pairs: Pairs, rows: list[int], count: int, asked: Mapping[str, Any]
) -> list[Search]:
    """Searches with the texts of the first rows that the model can read: "!!!" says nothing."""
    found: list[Search] = []
    why = ""
    for row in islice((row for row in rows if pairs.text_counts[row]), TRIED * count):
        try:
            found.append(by_words(index, [pairs[row].texts[0]], **asked))
        except UsageError as error:
            why = str(error)
        if len(found) == count:
            break
    if why and not found:
        remark(f"{pairs.source}: no text to try a search with ({why})")
    return found


def _shown(
    index: Index, pairs: Pairs, rows: list[int], asked: Mapping[str, Any]
) -> Iterator[Search]:
    """A search with the first picture that can be read."""
    for row in islice((row for row in rows if pairs.has_image[row]), TRIED):
        try:
            shown = index.search(image=pairs.images.read(row), **{"k": FOUND, **asked})
        except DataError:  # broken since the data was checked
            continue
        except UsageError:  # a model of features that come with the data takes no picture
            return
        yield Search(f"the picture of {pairs[row].id}", shown)
        return

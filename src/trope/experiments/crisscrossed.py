"""Crisscrossed Captions (Parekh et al. 2021): what people said of pairs of COCO's test split.

A score from 0 to 5 says how alike two captions are (STS), or how well a caption fits an image
(SITS). Only few of all pairs were judged, and those were chosen for being alike in some way.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
from jaxtyping import Bool, Float64, Int

from trope.data.pairs import Pairs
from trope.data.readers import open as open_pairs
from trope.errors import DataError, UsageError

CAPTIONS = Path("coco_captions/karpathy_captions_labels_10k.jsonl")
JUDGMENTS = {
    "sits": (Path("cxc/sits_test.csv"), "image", "caption"),
    "sts": (Path("cxc/sts_test.csv"), "caption1", "caption2"),
}
LAYOUT = f"{CAPTIONS} and {' and '.join(str(path) for path, *_ in JUDGMENTS.values())}"
NUMBER = r"(?P<number>[0-9]{1,18})(?:\.jpg)?$"
HIGHEST = 5.0

Numbers = Int[np.ndarray, " _"]


@dataclass(frozen=True, eq=False)
class Judged:
    """Judged pairs of a query and a caption, in the order of the queries.

    `images` is the image that each query is or describes, `caption_images` the caption's. Of two
    captions each is the query once: `ways` says how often a judgment is here. `unknown` pairs were
    left out: no caption of theirs is at hand.
    """

    queries: Numbers = field(repr=False)
    captions: Numbers = field(repr=False)
    scores: Float64[np.ndarray, " _"] = field(repr=False)
    images: Numbers = field(repr=False)
    caption_images: Numbers = field(repr=False)
    ways: int = 1
    unknown: int = 0

    def __len__(self) -> int:
        return len(self.queries)

    @cached_property
    def own(self) -> Bool[np.ndarray, " _"]:
        """Which pairs are of a query and a caption of the same image."""
        return np.asarray(self.images == self.caption_images)


@dataclass(frozen=True, eq=False)
class Crisscrossed:
    """Images with captions and labels, and the judged pairs; a query is an image or a caption."""

    pairs: Pairs
    sits: Judged
    sts: Judged

    @cached_property
    def owners(self) -> Numbers:
        """The image of each caption."""
        return self.pairs.flat_texts()[1]

    def query_images(self, task: str) -> Numbers:
        """The image of every possible query of a task."""
        return np.arange(len(self.pairs)) if task == "sits" else self.owners

    def judged(self, task: str) -> Judged:
        """The judged pairs of a task."""
        return self.sits if task == "sits" else self.sts


def read(data: str | os.PathLike[str]) -> Crisscrossed:
    """The test split's captions, labels and judgments from a folder with the official files."""
    data = Path(data)
    for path in (CAPTIONS, *(path for path, *_ in JUDGMENTS.values())):
        if not (data / path).is_file():
            raise UsageError(f"{data / path}: no such file; the data must hold {LAYOUT}")
    pairs = open_pairs(data / CAPTIONS).in_split("test")
    if not len(pairs):
        raise DataError(f"{data / CAPTIONS}: no row is in the test split")
    known = {"caption": _caption_numbers(pairs, data / CAPTIONS), "image": _image_numbers(pairs)}
    owners = pairs.flat_texts()[1]
    return Crisscrossed(pairs, *(_judged(data, task, known, owners) for task in ("sits", "sts")))


def _caption_numbers(pairs: Pairs, path: Path) -> Numbers:
    """COCO's number of each caption."""
    column = pairs.column("caption_ids")
    counts = np.asarray(pc.fill_null(pc.list_value_length(column), -1), np.int64)
    wrong = np.flatnonzero(counts != pairs.text_counts)
    if len(wrong):
        line = pairs.lines[wrong[0]]
        raise DataError(f"{path}: line {line}: caption_ids and texts do not go together")
    return np.asarray(pc.list_flatten(column), np.int64)


def _image_numbers(pairs: Pairs) -> Numbers:
    try:
        return np.asarray(pc.cast(pairs.column("id"), pa.int64()), np.int64)
    except pa.ArrowInvalid as error:
        raise DataError(
            f"{CAPTIONS.name}: an id is not COCO's number of an image ({error})"
        ) from None


def _judged(data: Path, task: str, known: dict[str, Numbers], owners: Numbers) -> Judged:
    """One file, its names replaced by rows."""
    path, query, caption = JUDGMENTS[task]
    table = _table(data / path, [query, caption])
    kind = query.rstrip("1")
    queries = _rows(table[query], known[kind], data / path)
    captions = _rows(table[caption], known["caption"], data / path)
    here = np.flatnonzero((queries >= 0) & (captions >= 0))
    if not len(here):
        raise DataError(f"{data / path}: none of its pairs is in {CAPTIONS}")
    queries, captions = queries[here], captions[here]
    scores, ways = np.asarray(table["agg_score"], np.float64)[here], 1
    if kind == "caption":  # how alike two captions are has no direction, ranking has one
        queries, captions = np.append(queries, captions), np.append(captions, queries)
        scores, ways = np.tile(scores, 2), 2
    order = np.argsort(queries, kind="stable")
    queries, captions = queries[order], captions[order]
    images = queries if kind == "image" else owners[queries]
    unknown = len(table) - len(here)
    return Judged(queries, captions, scores[order], images, owners[captions], ways, unknown)


def _table(path: Path, names: list[str]) -> pa.Table:
    """The columns of a file of judgments; scores are numbers from 0 to 5."""
    types = {name: pa.string() for name in names} | {"agg_score": pa.float64()}
    options = pyarrow.csv.ConvertOptions(
        column_types=types, include_columns=[*types], null_values=[""]
    )
    try:
        table = pyarrow.csv.read_csv(path, convert_options=options)
    except (pa.ArrowException, KeyError) as error:
        raise DataError(
            f"{path}: not a table of judgments ({str(error).splitlines()[0]})"
        ) from None
    scores = table["agg_score"].to_numpy()
    wrong = np.flatnonzero(~((scores >= 0) & (scores <= HIGHEST)))
    if len(wrong):
        raise DataError(f"{path}: row {wrong[0] + 1}: the score is not a number from 0 to 5")
    return table


def _rows(names: pa.ChunkedArray, known: Numbers, path: Path) -> Numbers:
    """The row of each name by the number it ends with; -1 where there is none."""
    found = pc.struct_field(pc.extract_regex(names, NUMBER), "number")
    if found.null_count:
        row = int(np.flatnonzero(np.asarray(found.is_null()))[0])
        raise DataError(f"{path}: row {row + 1}: {names[row]} is not a name of COCO")
    numbers = np.asarray(pc.cast(found, pa.int64()), np.int64)
    order = np.argsort(known, kind="stable")
    spot = np.minimum(np.searchsorted(known, numbers, sorter=order), len(known) - 1)
    return np.where(known[order[spot]] == numbers, order[spot], -1)

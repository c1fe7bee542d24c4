"""The splits of a run, kept with it: data that has grown since is parted as it was then."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from jaxtyping import Int

from trope.data.digests import WIDTH, image_digests
from trope.data.identity import same_text
from trope.data.known import NONE, Mask, Match, Parts, positions
from trope.data.pairs import Pairs
from trope.data.splits import SplitPlan, assign, given_parts, split
from trope.errors import DataError
from trope.files import replacing
from trope.types import SPLITS

FILE = "splits.parquet"
MARK = pa.binary(8)
SCHEMA = pa.schema(
    {
        "id": pa.string(),
        "split": pa.string(),
        "image": pa.string(),
        "picture": pa.binary(WIDTH),
        "texts": pa.list_(MARK),
    }
)
FEW = 0.5  # known rows, as a share of all, below which somebody may have another data set in mind


@dataclass(frozen=True)
class Recognized:
    """How many rows of a data set a run knows.

    `tied` are new but share a picture, a text or a group with what it knows; `renamed` are new and
    have the id of a row it knows.
    """

    rows: int
    known: int
    tied: int = 0
    renamed: int = 0

    def __str__(self) -> str:
        """A clause about it."""
        ids = "; ids that the run knows, with other pictures and texts"
        ids = f"{ids}: {self.renamed:,}" if self.renamed else ""
        if not self.known + self.tied:
            return f"none of its {self.rows:,} rows is known to the run, so all are new{ids}"
        if self.known == self.rows:
            return f"all of its {self.rows:,} rows are known to the run, and parted as then"
        few = self.known + self.tied < FEW * self.rows
        told = f"{'only ' * few}{self.known:,} of its {self.rows:,} rows are known to the run, and "
        told += "parted as then; rows that share a picture, a text or a group with those, and go "
        told += f"with them: {self.tied:,}; new rows: {self.rows - self.known - self.tied:,}{ids}"
        warning = (
            "; if this should be the data of the run, most of its pictures and texts have "
            "changed, and what was trained on may be tested"
        )
        return told + warning * few


def keep_splits(path: Path, pairs: Pairs, images: str = "content") -> None:
    """Write the split of each row, and what tells later that a row is still the same."""
    table = _marked(pairs, images)
    with replacing(path) as file:
        pq.write_table(table, file)


def with_kept_splits(path: Path, pairs: Pairs, plan: SplitPlan) -> tuple[Pairs, Recognized | None]:
    """The rows with the splits they had, new ones with those they belong to; how many are known.

    A row is known by its id with its picture or its first text, or by both without its id. Pictures
    are the same by their bytes where those were read (`plan.images`), else by their path. A new row
    that shares a picture, a text or a group with a row of `train`, be it through others, is of
    `train`, else with one of `val` of `val`, whatever split it brings: a model is not tested on
    what it has learned from. What is left fills up the shares. Data of which nothing is known, or
    without a file of kept splits (no count then), is split as planned.

    What is still taken for new, though the run has learned from it: a row whose picture's bytes and
    whose texts are all others now (a picture stored anew beside a text that was corrected), unless
    it has an id of its own and its path is the same; pictures and texts that are nearly the same; a
    row that has only its group in common with rows that are no longer there; a precomputed feature
    under another text. Of runs that kept no digests, a picture under another path and text too; of
    several texts these kept the first alone.
    """
    if not path.exists():
        return split(pairs, plan)[0], None
    kept, now = _read(path), _marked(pairs, "path")
    if all(kept.column(name).equals(now.column(name)) for name in ("id", "image", "texts")):
        return _parted(pairs, positions(kept.column("split"))), Recognized(len(now), len(now))
    match = Match(kept, _marked(pairs, plan.images) if plan.images == "content" else now)
    belongs = match.components(pairs)
    then, here = belongs[: len(kept)], belongs[len(kept) :]
    tied = ~match.known & np.isin(here, then)
    known = int(match.known.sum())
    renamed = int((match.same_ids & ~match.known & ~tied).sum())
    found = Recognized(len(now), known, int(tied.sum()), renamed)
    if not known + found.tied:
        return split(pairs, plan)[0], found
    parts = np.where(match.known, match.parts, given_parts(pairs, plan))
    learned = positions(kept.column("split"))
    return _parted(pairs, _joined(parts, match.known, here, (learned, then), plan)), found


def _joined(
    parts: Parts,
    known: Mask,
    belongs: Int[np.ndarray, " rows"],
    kept: tuple[Int[np.ndarray, " kept"], Int[np.ndarray, " kept"]],
    plan: SplitPlan,
) -> Parts:
    """New rows beside the rows they belong to; what belongs to none is parted by its share.

    `kept` are the splits and components of the rows there were, of which some may be gone.
    """
    first = np.full(int(max(belongs.max(initial=0), kept[1].max(initial=0))) + 1, NONE)
    _lower(first, *kept)
    _lower(first, parts[known], belongs[known])
    brought = ~known & (parts >= 0)
    parts = np.where(brought, np.minimum(parts, first[belongs]), parts)
    _lower(first, parts, belongs)
    new = ~known & (parts < 0)
    parts = np.where(new & (first[belongs] < NONE), first[belongs], parts)
    free = np.flatnonzero(new & (first[belongs] == NONE))
    if len(free):
        _, local = np.unique(belongs[free], return_inverse=True)
        filled = tuple(int((parts == part).sum()) for part in range(NONE))
        parts[free] = assign(local, plan.fractions, plan.seed, filled)
    return parts


def _lower(
    first: Int[np.ndarray, " components"],
    parts: Int[np.ndarray, " items"],
    belongs: Int[np.ndarray, " items"],
) -> None:
    """Put down the first split, in their order, of the items of each component."""
    np.minimum.at(first, belongs[parts >= 0], parts[parts >= 0])


def _parted(pairs: Pairs, parts: Parts) -> Pairs:
    return pairs.with_column("split", pa.array(SPLITS).take(pa.array(parts, mask=parts < 0)))


def _marked(pairs: Pairs, images: str) -> pa.Table:
    """What rows are known by; with digests of pictures where their content counts."""
    flat, _ = pairs.flat_texts()
    marks = pa.array(map(_mark, flat.to_pylist()), MARK, size=len(flat))
    starts = np.concatenate([[0], np.cumsum(pairs.text_counts)]).astype(np.int32)
    pictures = pa.nulls(len(pairs), pa.binary(WIDTH))
    if images == "content":
        found = image_digests(pairs).values
        whole = np.ascontiguousarray(found).view(np.uint8).tobytes()
        buffers = [None, pa.py_buffer(whole)]
        there = pa.array(found != b"")
        raw = pa.FixedSizeBinaryArray.from_buffers(pa.binary(WIDTH), len(found), buffers)
        pictures = pc.if_else(there, raw, pictures)
    columns = [pairs.column(name) for name in ("id", "split", "image")]
    texts = pa.ListArray.from_arrays(pa.array(starts), marks)
    return pa.table([*columns, pictures, texts], schema=SCHEMA)


def _mark(text: str) -> bytes | None:
    """A text's name; the same for texts that count as the same, none for one without content."""
    form = same_text(text)
    return hashlib.blake2b(form.encode(errors="replace"), digest_size=8).digest() if form else None


def _read(path: Path) -> pa.Table:
    try:
        table = pq.read_table(path)
        if "text" in table.column_names:  # of the first text alone, and no digests
            texts = [_single(chunk) for chunk in table.column("text").chunks]
            table = table.append_column("texts", pa.chunked_array(texts, pa.list_(MARK)))
            table = table.append_column("picture", pa.nulls(len(table), pa.binary(WIDTH)))
        return table.select(SCHEMA.names).cast(SCHEMA)
    except (OSError, KeyError, pa.ArrowException) as error:
        raise DataError(f"{path}: damaged, or not made by trope ({error})") from None


def _single(marks: pa.Array) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(np.arange(len(marks) + 1, dtype=np.int32)), marks)

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
        "group": pa.string(),
    }
)
FEW = 0.5  # known rows, as a share of all, below which somebody may have another data set in mind
DOUBT = (
    "; if this should be the data of the run, most of its pictures and texts have changed, "
    "and what was trained on may be tested"
)


@dataclass(frozen=True)
class Recognized:
    """How many rows of a data set a run knows.

    `tied` are new but share a picture, a text or a group with what it knows; `renamed` are new and
    have the id of a row it knows. Of the known, `moved` have got a picture or a text of an earlier
    split, and `repainted` another picture, be it one that the run does not know; `overruled` bring
    a split that is not the one they had.
    """

    rows: int
    known: int
    tied: int = 0
    renamed: int = 0
    moved: int = 0
    repainted: int = 0
    overruled: int = 0

    @property
    def unchanged(self) -> bool:
        """Whether all rows are known, each with its picture and in its split."""
        return self == Recognized(self.rows, self.rows)

    def __str__(self) -> str:
        """A clause about it."""
        ids = "; ids that the run knows, with other pictures and texts"
        ids = f"{ids}: {self.renamed:,}" if self.renamed else ""
        if not self.known + self.tied:
            told = f"none of its {self.rows:,} rows is known to the run, so all are new{ids}"
            return told + DOUBT * bool(self.renamed)
        if self.known == self.rows:
            return f"all of its {self.rows:,} rows are known to the run, and {self._then}"
        few = self.known + self.tied < FEW * self.rows
        told = f"{'only ' * few}{self.known:,} of its {self.rows:,} rows are known to the run, and "
        told += f"{self._then}; rows that share a picture, a text or a group with those, and go "
        told += f"with them: {self.tied:,}; new rows: {self.rows - self.known - self.tied:,}{ids}"
        return told + DOUBT * few

    @property
    def _then(self) -> str:
        moved = ", but for those with a picture or a text of an earlier split now, which go there: "
        told = f"parted as then{f'{moved}{self.moved:,}' if self.moved else ''}"
        told += f"; with other pictures: {self.repainted:,}" if self.repainted else ""
        brought = "; that bring another split, where the run's holds"
        return told + (f"{brought}: {self.overruled:,}" if self.overruled else "")


def keep_splits(path: Path, pairs: Pairs, images: str = "content") -> None:
    """Write the split of each row, and what tells later that a row is still the same."""
    table = _marked(pairs)
    if images == "content":
        table = _with_digests(table, pairs)
    with replacing(path) as file:
        pq.write_table(table, file)


def with_kept_splits(path: Path, pairs: Pairs, plan: SplitPlan) -> tuple[Pairs, Recognized | None]:
    """The rows with the splits they had, new ones with those they belong to; how many are known.

    A row is known by its id with its picture or its first text, or by both without its id. Pictures
    are the same by their bytes where those were read (`plan.images`), else by their path. It keeps
    its split, unless a picture or a text that it has got since was of an earlier one. A new row
    that shares a picture, a text or a group with a row of `train`, be it through others, is of
    `train`, else with one of `val` of `val`, whatever split it brings: a model is not tested on
    what it has learned from. What is left fills up the shares. Data of which nothing is known, or
    without a file of kept splits (no count then), is split as planned.

    What is still taken for new, though the run has learned from it: a row whose picture's bytes and
    whose texts are all others now (a picture stored anew beside a text that was corrected), unless
    it has an id of its own and its path is the same; pictures and texts that are nearly the same; a
    precomputed feature under another text. Of runs that kept no digests, a picture under another
    path and text too; of several texts these kept the first alone, and no groups.
    """
    if not path.exists():
        return split(pairs, plan)[0], None
    kept, now = _read(path), _marked(pairs)
    same = _agree(kept, now, "id", "image", "texts")
    blind = kept.column("picture").null_count == len(kept)
    if plan.images == "content" and not (same and blind):
        now = _with_digests(now, pairs)
        same = same and _agree(kept, now, "picture")
    if same:
        parts, everyone = positions(kept.column("split")), np.ones(len(now), bool)
        overruled = 0 if plan.column else _overruled(given_parts(pairs, plan), parts, everyone)
        return _parted(pairs, parts), Recognized(len(now), len(now), overruled=overruled)
    match = Match(kept, now)
    belongs = match.components()
    then, here = belongs[: len(kept)], belongs[len(kept) :]
    tied = ~match.known & np.isin(here, then)
    known = int(match.known.sum())
    renamed = int((match.same_ids & ~match.known & ~tied).sum())
    moved, repainted = int(match.moved.sum()), int(match.repainted.sum())
    given = given_parts(pairs, plan)
    overruled = _overruled(given, match.parts, match.known & ~match.moved)
    found = Recognized(len(now), known, int(tied.sum()), renamed, moved, repainted, overruled)
    if not known + found.tied:
        return split(pairs, plan)[0], found
    parts = np.where(match.known, match.parts, given)
    learned = positions(kept.column("split"))
    return _parted(pairs, _joined(parts, match.known, here, (learned, then), plan)), found


def learned_from(path: Path, pairs: Pairs, images: str = "content") -> Mask:
    """The rows that a run has learned from: those it knows, if they were of `train` then."""
    if not path.exists():
        return np.zeros(len(pairs), bool)
    kept, now = _read(path), _marked(pairs)
    if images == "content":
        now = _with_digests(now, pairs)
    return np.asarray(Match(kept, now).parts == SPLITS.index("train"))


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


def _overruled(given: Parts, parts: Parts, known: Mask) -> int:
    return int((known & (given >= 0) & (parts >= 0) & (given != parts)).sum())


def _parted(pairs: Pairs, parts: Parts) -> Pairs:
    return pairs.with_column("split", pa.array(SPLITS).take(pa.array(parts, mask=parts < 0)))


def _agree(then: pa.Table, now: pa.Table, *names: str) -> bool:
    return all(then.column(name).equals(now.column(name)) for name in names)


def _marked(pairs: Pairs) -> pa.Table:
    """What rows are known by, but for their pictures' content."""
    flat, _ = pairs.flat_texts()
    marks = pa.array(map(_mark, flat.to_pylist()), MARK, size=len(flat))
    starts = np.concatenate([[0], np.cumsum(pairs.text_counts)]).astype(np.int32)
    columns = [pairs.column(name) for name in ("id", "split", "image")]
    pictures = pa.nulls(len(pairs), pa.binary(WIDTH))
    texts = pa.ListArray.from_arrays(pa.array(starts), marks)
    return pa.table([*columns, pictures, texts, pairs.column("group")], schema=SCHEMA)


def _with_digests(table: pa.Table, pairs: Pairs) -> pa.Table:
    """The same with digests of the pictures, where there are any."""
    found = image_digests(pairs).values
    whole = np.ascontiguousarray(found).view(np.uint8).tobytes()
    raw = pa.FixedSizeBinaryArray.from_buffers(
        pa.binary(WIDTH), len(found), [None, pa.py_buffer(whole)]
    )
    pictures = pc.if_else(pa.array(found != b""), raw, pa.nulls(len(found), pa.binary(WIDTH)))
    field = SCHEMA.field("picture")
    return table.set_column(SCHEMA.get_field_index("picture"), field, pictures)


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
        if "group" not in table.column_names:
            table = table.append_column("group", pa.nulls(len(table), pa.string()))
        return table.select(SCHEMA.names).cast(SCHEMA)
    except (OSError, KeyError, pa.ArrowException) as error:
        raise DataError(f"{path}: damaged, or not made by trope ({error})") from None


def _single(marks: pa.Array) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(np.arange(len(marks) + 1, dtype=np.int32)), marks)

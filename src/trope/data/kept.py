"""The splits of a run, kept with it: data that has grown since is parted as it was then."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from jaxtyping import Bool, Int

from trope.data.identity import same_text
from trope.data.pairs import Pairs
from trope.data.splits import Parts, SplitPlan, assign, given_parts, row_components, split
from trope.errors import DataError
from trope.files import replacing
from trope.types import SPLITS

FILE = "splits.parquet"
COLUMNS = ("id", "split", "image", "text")


def keep_splits(path: Path, pairs: Pairs) -> None:
    """Write the split of each row, and what tells later that a row is still the same."""
    with replacing(path) as file:
        pq.write_table(_marked(pairs), file)


def with_kept_splits(path: Path, pairs: Pairs, plan: SplitPlan) -> Pairs:
    """The rows with the splits they had; new ones join their component's, or fill up the shares.

    A row is known by its id, and by its image or its first text. A new row that shares a component
    with a known one of `train` is of `train`, else with one of `val` of `val`, whatever split it
    brings: a model is not tested on what it has learned from. Data of which no row is known, or
    without a file of kept splits, is split as planned.
    """
    if not path.exists():
        return split(pairs, plan)[0]
    kept, now = _read(path), _marked(pairs)
    place = pc.index_in(now.column("id"), value_set=kept.column("id"))
    if place.null_count == len(now):
        return split(pairs, plan)[0]
    then = kept.take(pc.fill_null(place, 0))
    known = np.asarray(place.is_valid()) & _same(then, now)
    if not known.any():
        return split(pairs, plan)[0]
    parts = np.where(known, _positions(then.column("split")), given_parts(pairs, plan))
    parts = _joined(parts, known, pairs, plan)
    return pairs.with_column("split", pa.array(SPLITS).take(pa.array(parts, mask=parts < 0)))


def _joined(parts: Parts, known: Bool[np.ndarray, " rows"], pairs: Pairs, plan: SplitPlan) -> Parts:
    """New rows beside the rows they belong to; what belongs to none is parted by its share."""
    if known.all():
        return parts
    belongs, none = row_components(pairs, plan.images), len(SPLITS)
    brought = ~known & (parts >= 0)
    parts = np.where(brought, np.minimum(parts, _first(parts, known, belongs)), parts)
    first = _first(parts, parts >= 0, belongs)
    new = ~known & (parts < 0)
    parts = np.where(new & (first < none), first, parts)
    free = np.flatnonzero(new & (first == none))
    if len(free):
        _, local = np.unique(belongs[free], return_inverse=True)
        filled = tuple(int((parts == part).sum()) for part in range(none))
        parts[free] = assign(local, plan.fractions, plan.seed, filled)
    return parts


def _first(
    parts: Parts, counted: Bool[np.ndarray, " rows"], belongs: Int[np.ndarray, " rows"]
) -> Parts:
    """For each row the first split, in their order, of the rows that count in its component."""
    first = np.full(int(belongs.max()) + 1, len(SPLITS))
    counted = counted & (parts >= 0)
    np.minimum.at(first, belongs[counted], parts[counted])
    return np.asarray(first[belongs])


def _marked(pairs: Pairs) -> pa.Table:
    texts = pairs.column("texts")
    marks = [_mark(found[0]) if found else None for found in texts.to_pylist()]
    columns = [pairs.column("id"), pairs.column("split"), pairs.column("image")]
    return pa.table([*columns, pa.array(marks, pa.binary(8))], names=COLUMNS)


def _mark(text: str) -> bytes:
    return hashlib.blake2b(same_text(text).encode(errors="replace"), digest_size=8).digest()


def _same(then: pa.Table, now: pa.Table) -> Bool[np.ndarray, " rows"]:
    equal = [
        np.asarray(pc.fill_null(pc.equal(then.column(name), now.column(name)), False))
        for name in ("image", "text")
    ]
    return np.asarray(equal[0] | equal[1])


def _positions(names: pa.ChunkedArray) -> Parts:
    found = pc.fill_null(pc.index_in(names, value_set=pa.array(SPLITS)), -1)
    return np.asarray(found, dtype=np.int64)


def _read(path: Path) -> pa.Table:
    try:
        return pq.read_table(path, columns=list(COLUMNS))
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path}: damaged, or not made by trope ({error})") from None

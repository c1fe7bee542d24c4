"""Problems of rows seen without opening a picture: ids, paths, texts, labels, splits."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Bool

from trope.data.identity import codes, same_text
from trope.data.pairs import Pairs
from trope.data.stores import refusal
from trope.types import SPLITS
from trope.wording import counted

OUTSIDE = r"^/|^[A-Za-z]:[\\/]|(^|/)\.\.(/|$)|\x00|^[./]+$"  # or more than `refusal` refuses
LONG_TEXT = 100_000
SHOWN = 60

Found = Iterator[tuple[str, int, str]]  # code, row (−1 for the whole), detail
Mask = Bool[np.ndarray, " rows"]


def repeated_ids(pairs: Pairs) -> Found:
    """Every row after the first with the same id."""
    numbers = codes(pairs.column("id"))
    _, first, inverse = np.unique(numbers, return_index=True, return_inverse=True)
    for row in np.flatnonzero(first[inverse] != np.arange(len(pairs))):
        place = pairs.place(int(first[inverse[row]]))
        yield "id-repeated", int(row), f"id {pairs.column('id')[row].as_py()!r} is {place}'s"


def outside_paths(pairs: Pairs) -> Found:
    """Paths that are absolute or climb, wherever they would lead."""
    paths = pairs.column("image")
    bad = pc.fill_null(pc.match_substring_regex(paths, OUTSIDE), False)
    for row in np.flatnonzero(np.asarray(bad)):
        if why := refusal(paths[row].as_py()):
            yield "path-outside", int(row), f"{_shown(paths[row].as_py())} {why}"


def missing_sides(pairs: Pairs) -> Found:
    """Rows that lack a text, an image, or both; precomputed features count as either."""
    image = pairs.has_image | _has_feature(pairs, "image_feature")
    text = (pairs.text_counts > 0) | _has_feature(pairs, "text_feature")
    yield from (("row-empty", int(row), "") for row in np.flatnonzero(~image & ~text))
    yield from (("text-missing", int(row), "") for row in np.flatnonzero(image & ~text))
    yield from (("image-absent", int(row), "") for row in np.flatnonzero(~image & text))


def bad_texts(pairs: Pairs) -> Found:
    """Texts without content, with lost letters, or of extreme length."""
    texts, owners = pairs.flat_texts()
    empty = codes(texts, same_text) < 0
    damaged = np.asarray(pc.match_substring(texts, "\ufffd"))
    lengths = np.asarray(pc.utf8_length(texts))
    filled = np.bincount(owners[~empty], minlength=len(pairs))
    for i in np.flatnonzero(empty):
        code = "text-blank" if filled[owners[i]] else "text-empty"
        yield code, int(owners[i]), repr(texts[i].as_py())
    for i in np.flatnonzero(damaged):
        yield "text-damaged", int(owners[i]), _shown(texts[i].as_py())
    for i in np.flatnonzero(lengths > LONG_TEXT):
        yield "text-long", int(owners[i]), f"{lengths[i]:,} characters"


def bad_splits(pairs: Pairs) -> Found:
    """Unknown split names, and data sets that name some splits but not all."""
    column = pairs.column("split")
    known = np.asarray(pc.is_in(column, value_set=pa.array(SPLITS)))
    for row in np.flatnonzero(~known & np.asarray(column.is_valid())):
        yield "split-unknown", int(row), repr(column[row].as_py())
    if not known.any():
        return
    present = set(pc.unique(column).to_pylist())
    for name in SPLITS:
        if name not in present:
            cut = "; it will be cut from train" if name == "val" else ""
            yield "split-absent", -1, f"no row is in {name}{cut}"
    if column.null_count:
        lacking = counted(column.null_count, "row has", "rows have")
        yield "split-absent", -1, f"{lacking} no split, to be given one"


def bad_labels(pairs: Pairs) -> Found:
    """Rows without labels where others have some, labels no training row has."""
    lists = pairs.column("labels")
    counts = np.asarray(pc.list_value_length(lists))
    if not counts.any():
        return
    labels, owners = pc.list_flatten(lists), np.repeat(np.arange(len(pairs)), counts)
    yield from (("label-missing", int(row), "") for row in np.flatnonzero(counts == 0))
    train = np.asarray(pc.fill_null(pc.equal(pairs.column("split"), "train"), False))
    if train.any() and not pairs.column("split").null_count:
        seen = labels.filter(pa.array(train[owners])).unique()
        unseen = np.asarray(pc.invert(pc.is_in(labels, value_set=seen)))
        for i in np.flatnonzero(unseen):
            yield "label-unseen", int(owners[i]), repr(labels[i].as_py())


def bad_numbers(pairs: Pairs) -> Found:
    """Extra columns with numbers that JSON has no word for, each at its first such row."""
    for name in pairs.extra_columns:
        chunks = [_odd(chunk) for chunk in pairs.column(name).chunks]
        odd = np.flatnonzero(np.concatenate([np.zeros(0, bool), *chunks]))
        if len(odd):
            yield "number-lost", int(odd[0]), f"'{name}' in {counted(len(odd), 'row')}"


def _odd(array: pa.Array) -> Mask:
    """Which cells hold NaN or infinity, themselves or inside a list or struct."""
    if pa.types.is_floating(array.type):
        finite = pc.is_finite(array.cast(pa.float64()))
        return ~np.asarray(pc.fill_null(finite, True)).astype(bool)
    if pa.types.is_struct(array.type):
        inner = [np.zeros(len(array), bool), *map(_odd, array.flatten())]
        return np.asarray(np.any(inner, axis=0))
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type):
        owners = np.asarray(pc.list_parent_indices(array))
        counts = np.bincount(owners[_odd(pc.list_flatten(array))], minlength=len(array))
        return np.asarray(counts > 0)
    return np.zeros(len(array), bool)


def bad_features(pairs: Pairs) -> Found:
    """Rows that name a place in an array of features that is not there, or not that long."""
    for side in ("image", "text"):
        name = f"{side}_feature"
        if name not in pairs.table.column_names:
            continue
        path = pairs.root / "features" / f"{side}.npy"
        length, reason = _length(path)
        places = pc.fill_null(pairs.column(name).cast(pa.float64(), safe=False), -1.0)
        wrong = (np.asarray(places) >= length) | (np.asarray(places) < 0)
        for row in np.flatnonzero(wrong & _has_feature(pairs, name)):
            value = pairs.column(name)[row].as_py()
            yield (
                "feature-missing",
                int(row),
                reason or f"{name} {value} of {length} in {path.name}",
            )


def _length(path: Path) -> tuple[int, str]:
    """How many items an array on disk has, or why it has none."""
    try:
        return len(np.load(path, mmap_mode="r", allow_pickle=False)), ""
    except (OSError, ValueError, EOFError, TypeError) as error:
        return 0, f"{path}: {getattr(error, 'strerror', None) or error}"


def _has_feature(pairs: Pairs, name: str) -> Mask:
    if name not in pairs.table.column_names:
        return np.zeros(len(pairs), bool)
    return np.asarray(pairs.column(name).is_valid())


def _shown(text: str) -> str:
    return repr(text if len(text) <= SHOWN else f"{text[:SHOWN]}…")

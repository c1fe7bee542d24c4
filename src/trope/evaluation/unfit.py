"""What does not fit together in files of vectors: each refused in a line that names the file."""

from __future__ import annotations

from collections import Counter

from trope.errors import DataError, suggestion
from trope.evaluation.vectors import BANK, PREDICTED, SIDES, Arrays
from trope.wording import counted

KNOWN = (*SIDES, "owners", *BANK, *PREDICTED)


def refuse_unfit(found: Arrays) -> None:
    """Refuse arrays that are missing, of other shapes, or whose rows cannot be told apart."""
    for side in SIDES:
        if side not in found.numbers:
            there = ", ".join(sorted(found.numbers)) or "nothing"
            raise DataError(f"{found.path}: no array '{side}'; there is {there}")
    for name in sorted(found.numbers):
        if name not in KNOWN:
            raise DataError(f"{found.path}: unknown array '{name}'{suggestion(name, KNOWN)}")
    _refuse_lone(found)
    _refuse_shapes(found)
    _refuse_ids(found)
    _refuse_labels(found)


def _refuse_lone(found: Arrays) -> None:
    """What goes together must be there together."""
    for what, names, there in (
        ("training queries, the bank of --hubs,", BANK, found.numbers),
        ("names of rows", [f"{side}_ids" for side in SIDES], [f"{s}_ids" for s in found.ids]),
    ):
        missing = [name for name in names if name not in there]
        if len(missing) == 1:
            both = " and ".join(names)
            raise DataError(f"{found.path}: {what} are {both}; there is no {missing[0]}")


def _refuse_shapes(found: Arrays) -> None:
    """Vectors are floats, at least one, and all of as many dimensions."""
    size = found.numbers["image"].shape[-1:]
    for name in (*SIDES, *BANK):
        if name not in found.numbers:
            continue
        values, file = found.numbers[name], found.file(name)
        if values.ndim not in (2, 3) or values.dtype.kind != "f":
            raise DataError(
                f"{file}: '{name}' has shape {values.shape} and type {values.dtype}; "
                "expected floats of shape (n, d) or (n, k, d)"
            )
        if not values.size:
            raise DataError(f"{file}: '{name}' has shape {values.shape}, which holds no vector")
        if values.shape[-1:] != size:
            here = counted(values.shape[-1], "dimension")
            raise DataError(f"{file}: '{name}' has {here}, 'image' has {size[0]}")


def _refuse_ids(found: Arrays) -> None:
    """A name for each row; a picture has one vector, and so a name of its own."""
    for side, ids in found.ids.items():
        if len(ids) != len(found.numbers[side]):
            raise DataError(
                f"{found.path}: {len(ids):,} {side}_ids for {len(found.numbers[side]):,} vectors "
                f"'{side}'"
            )
    name, times = next(iter(Counter(found.ids.get("image", ())).most_common(1)), ("", 0))
    if times > 1:
        raise DataError(f"{found.path}: image_ids: '{name}' stands there {times} times")


def _refuse_labels(found: Arrays) -> None:
    """Predicted labels: of both sides, a row for each vector and a column for each name."""
    there = [name for name in PREDICTED if name in found.numbers]
    if not there and not found.labels:
        return
    if len(there) < len(PREDICTED) or not found.labels:
        what = f"{', '.join(PREDICTED)} and labels, the names of their columns"
        raise DataError(f"{found.path}: predicted labels need {what}; one is missing")
    if len(set(found.labels)) < len(found.labels):
        raise DataError(f"{found.path}: labels: a name stands there twice")
    for side, name in zip(SIDES, PREDICTED, strict=True):
        values, wanted = found.numbers[name], (len(found.numbers[side]), len(found.labels))
        if values.shape != wanted or values.dtype.kind not in "fb":
            raise DataError(
                f"{found.path}: '{name}' has shape {values.shape} and type {values.dtype}; "
                f"expected floats (or true and false) of shape {wanted}"
            )

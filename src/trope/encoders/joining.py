"""Encoded items as plain tensors, and those of several batches as one.

Joined parts are padded to the most that an item has, so that their memory is bounded before they
are made: in single precision up to 1 GB a side, halved above, refused above 4 GB. While they are
joined, those of the batches, which are padded less, are there too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from typing import TypeAlias

import torch
from torch import Tensor

from trope.errors import DataError
from trope.views import Encoded

SINGLE, LARGEST = 2**30, 2**32  # bytes

Packed: TypeAlias = tuple[Tensor | None, ...]  # the fields of `Encoded`, in order


def packed(values: Packed) -> Encoded:
    """The record of plain tensors."""
    mean, *others = values
    assert mean is not None
    return Encoded(mean, *others)


def unpacked(encoded: Encoded) -> Packed:
    """The fields of a record, in order."""
    return tuple(getattr(encoded, field.name) for field in fields(Encoded))


def join(parts: Sequence[Encoded]) -> Encoded:
    """Encoded items one after the other; parts are padded to the most that an item has."""
    local = _joined_parts(parts)
    columns = zip(*(unpacked(part.points_only()) for part in parts), strict=True)
    found = packed(tuple(None if column[0] is None else torch.cat(column) for column in columns))
    return found if local is None else replace(found, locals=local[0], present=local[1])


def _joined_parts(parts: Sequence[Encoded]) -> tuple[Tensor, Tensor | None] | None:
    """Parts of all items, and which of them are real; None where items have none."""
    given = [part.locals for part in parts if part.locals is not None]
    if not given:
        return None
    count, most = sum(map(len, given)), max(values.shape[1] for values in given)
    whole = given[0].new_zeros(
        (count, most, given[0].shape[2]), dtype=_precision(given[0], count, most)
    )
    present = torch.zeros(count, most, dtype=torch.bool, device=whole.device)
    start = 0
    for part, values in zip(parts, given, strict=True):
        rows, length = slice(start, start + len(values)), values.shape[1]
        whole[rows, :length] = values
        present[rows, :length] = True if part.present is None else part.present
        start = rows.stop
    return whole, None if all(part.present is None for part in parts) else present


def _precision(values: Tensor, count: int, most: int) -> torch.dtype:
    """In which so many items with so many parts can be held; refused where in none."""
    size = count * most * values.shape[2] * values.element_size()
    if size <= SINGLE:
        return values.dtype
    if size // 2 > LARGEST:
        raise DataError(
            f"{count:,} items of up to {most} parts take {size / 2**31:.1f} GB of memory in half "
            "precision; ask for fewer items, or train with a lower text.longest or image.grid"
        )
    return torch.float16

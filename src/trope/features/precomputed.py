"""Features that come with a data set: `features/image.npy` and `features/text.npy`, mapped."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Float, Int, Shaped

from trope.data.pairs import Pairs
from trope.errors import DataError, UsageError
from trope.features.kinds import Kind
from trope.features.table import FeatureTable
from trope.wording import counted


@dataclass(frozen=True)
class Precomputed:
    """Rows of stored arrays, named by the columns `image_feature` and `text_feature`.

    An array holds a vector per item (n d), or regions (n r d): `tokens` are the regions, `pooled`
    is their mean. Where regions are in their pictures may stand in `features/image_boxes.npy`
    (n r 4): left, top, right and bottom edge, as shares of the picture.
    """

    name: str = "precomputed"

    def images(self, pairs: Pairs, kind: Kind = "pooled") -> FeatureTable:
        """The stored features of the rows' pictures."""
        return _stored(pairs, "image", kind)

    def texts(self, pairs: Pairs, kind: Kind = "pooled") -> FeatureTable:
        """The stored features of the rows' texts."""
        return _stored(pairs, "text", kind)

    def kind(self, pairs: Pairs, side: str) -> Kind:
        """The finest kind there is: the regions of items, or the one vector that each has."""
        return "tokens" if _mapped(_path(pairs, side)).ndim == 3 else "pooled"

    def boxes(self, pairs: Pairs) -> Float[np.ndarray, "items regions 4"] | None:
        """Where the regions of pictures are, by position, if that is known."""
        path = _path(pairs, "image_boxes")
        if not path.is_file():
            return None
        boxes, wanted = np.array(_mapped(path), np.float32), _mapped(_path(pairs, "image")).shape
        if boxes.shape != (*wanted[:2], 4):
            raise DataError(
                f"{path}: has shape {boxes.shape}, expected {(*wanted[:2], 4)}: four edges of each "
                "region of image.npy"
            )
        inside = np.isfinite(boxes).all() and boxes.min() >= 0 and boxes.max() <= 1
        if not inside or (boxes[..., 2:] < boxes[..., :2]).any():
            raise DataError(
                f"{path}: edges must be shares of a picture, from 0 to 1, left and top first"
            )
        return boxes


def _path(pairs: Pairs, name: str) -> Path:
    return pairs.root / "features" / f"{name}.npy"


def _stored(pairs: Pairs, side: str, kind: Kind) -> FeatureTable:
    path = _path(pairs, side)
    array = _mapped(path)
    if (array.ndim == 2 and kind != "pooled") or kind == "grid":
        there = "pooled" if array.ndim == 2 else "pooled and tokens"
        raise UsageError(f"{path}: has shape {array.shape}, which gives {there}, not '{kind}'")
    rows = _rows(pairs, f"{side}_feature", len(array), path)
    items = np.arange(len(array))
    average = array.ndim == 3 and kind == "pooled"
    return FeatureTable(rows, (array,), np.zeros_like(items), items, average=average)


def _mapped(path: Path) -> Shaped[np.ndarray, "items ..."]:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    except (ValueError, EOFError) as error:
        raise DataError(f"{path}: not an array of numbers ({str(error).splitlines()[0]})") from None
    if (
        not isinstance(array, np.ndarray)
        or array.ndim not in (2, 3)
        or array.dtype.kind not in "fiu"
    ):
        raise DataError(f"{path}: expected numbers of shape (n, d) or (n, regions, d)")
    return array


def _rows(pairs: Pairs, column: str, count: int, path: Path) -> Int[np.ndarray, " rows"]:
    """Each row's place in the array, -1 where it has none."""
    values = pairs.column(column)
    try:
        places = np.asarray(pc.fill_null(values.cast(pa.int64()), -1))
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        why = f"column '{column}' holds {values.type}, not rows"
        raise DataError(f"{pairs.source}: {why}") from None
    wrong = np.asarray(values.is_valid()) & ((places < 0) | (places >= count))
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise DataError(
            f"{pairs.source}: {pairs.place(row)}: {column} {places[row]} is not in {path.name}, "
            f"which has {counted(count, 'row')}"
        )
    return places

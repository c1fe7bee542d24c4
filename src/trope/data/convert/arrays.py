"""Feature arrays in and out, block by block: eight gigabytes pass through a few megabytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from trope.data.convert.layout import Block, Features
from trope.errors import DataError
from trope.files import replacing

BLOCK_BYTES = 32 * 2**20


def mapped(path: Path) -> Block:
    """A numeric `.npy` file over mapped memory; pickled objects are refused, nothing is loaded."""
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    except (ValueError, EOFError, TypeError) as error:
        raise DataError(f"{path}: not a plain .npy array ({error})") from None
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "fiu" or array.ndim < 2:
        raise DataError(f"{path}: expected an array of numbers, one row per item")
    return array


def origin(features: Features) -> dict[str, Any]:
    """What an array is made of, as plain values: equal for as long as it would come out equal."""
    statuses = [(str(path), path.stat()) for path in features.files]
    files = [[name, s.st_ino, s.st_size, s.st_mtime_ns] for name, s in statuses]
    return {"shape": features.shape, "dtype": features.dtype.str, "files": files}


def block_rows(array: Block) -> int:
    """How many rows make up one block."""
    return max(1, BLOCK_BYTES // max(1, array[:1].nbytes))


def blocks(array: Block) -> Iterator[Block]:
    """An array's rows, some megabytes at a time."""
    step = block_rows(array)
    for start in range(0, len(array), step):
        yield array[start : start + step]


def write(path: Path, features: Features) -> None:
    """Write `features` as one `.npy` file; a file that is there is whole and stays."""
    if path.exists():
        return
    header = {
        "descr": np.lib.format.dtype_to_descr(features.dtype),
        "fortran_order": False,
        "shape": features.shape,
    }
    rows = 0
    with replacing(path) as handle:
        np.lib.format.write_array_header_1_0(handle, header)
        for block in features.blocks():
            handle.write(np.ascontiguousarray(block, features.dtype).data)
            rows += len(block)
        if rows != features.shape[0]:
            raise DataError(
                f"{path.name}: {rows} rows came where {features.shape[0]} were announced"
            )

"""Who is near whom: a table that is computed once, saved whole or not at all, and mapped.

The file is a `safetensors` file with the arrays `ids` and `distances`; its metadata says which
vectors it belongs to, and it is refused for any others.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from jaxtyping import Float32, Int, Int32

from trope.errors import DataError
from trope.files import replacing

DTYPES = {"I32": np.dtype("<i4"), "F32": np.dtype("<f4")}
PARTS = {"ids": "I32", "distances": "F32"}
FORMAT = 2  # of the file and of what stands in it: an older one is not looked at
LONGEST_HEADER = 2**16
BLOCK = 2**22  # ids looked at at a time


@dataclass(frozen=True)
class Made:
    """What a table was made from and how: the digest of the vectors, and the settings."""

    fingerprint: str
    metric: str
    method: str
    k: int


@dataclass(frozen=True, eq=False)
class NeighborTable:
    """The nearest rows of every row, nearest first; -1, infinitely far, where there are fewer."""

    ids: Int32[np.ndarray, "rows k"] = field(repr=False)
    distances: Float32[np.ndarray, "rows k"] = field(repr=False)
    made: Made

    def __len__(self) -> int:
        return len(self.ids)

    @property
    def counts(self) -> Int[np.ndarray, " rows"]:
        """How many neighbors each row has."""
        return np.asarray(np.count_nonzero(self.ids >= 0, axis=1))

    @property
    def sound(self) -> bool:
        """Whether every neighbor is a row of the table, or -1."""
        step = max(1, BLOCK // max(1, self.ids.shape[1]))
        parts = (self.ids[start : start + step] for start in range(0, len(self), step))
        return all(part.min() >= -1 and part.max() < len(self) for part in parts if part.size)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the table, whole or not at all."""
        arrays = {"ids": self.ids, "distances": self.distances}
        with replacing(Path(path)) as file:
            file.write(_header(arrays, self.made))
            for array in arrays.values():
                file.write(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).data)

    @classmethod
    def load(cls, path: str | os.PathLike[str], fingerprint: str | None = None) -> NeighborTable:
        """Map a saved table; one that belongs to other vectors than `fingerprint` is refused."""
        arrays, made = _mapped(Path(path))
        if fingerprint is not None and made.fingerprint != fingerprint:
            raise DataError(f"{path}: holds neighbors of other vectors; remove it or name another")
        table = cls(arrays["ids"], arrays["distances"], made)
        if not table.sound:
            raise DataError(f"{path}: damaged (a neighbor is none of its {len(table):,} rows)")
        return table


def _header(arrays: Mapping[str, np.ndarray], made: Made) -> bytes:
    """Length and text of a header, padded so that the arrays are aligned."""
    names = {dtype: name for name, dtype in DTYPES.items()}
    document: dict[str, Any] = {"__metadata__": {k: str(v) for k, v in asdict(made).items()}}
    end = 0
    for name, array in arrays.items():
        start, end = end, end + array.nbytes
        kind = names[array.dtype.newbyteorder("<")]
        document[name] = {"dtype": kind, "shape": array.shape, "data_offsets": [start, end]}
    text = orjson.dumps(document)
    text += b" " * ((56 - len(text)) % 64)  # with the 8 bytes of the length, a multiple of 64
    return len(text).to_bytes(8, "little") + text


def _mapped(path: Path) -> tuple[dict[str, np.ndarray], Made]:
    """The arrays of a file on disk, and what they were made from."""
    try:
        with path.open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            document = orjson.loads(file.read(min(length, LONGEST_HEADER)))
        made = _made(document["__metadata__"])
        arrays = {name: _array(path, 8 + length, document[name], PARTS[name]) for name in PARTS}
        if arrays["ids"].shape != arrays["distances"].shape or arrays["ids"].shape[1:] != (made.k,):
            raise ValueError("its parts do not fit together")
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError, IndexError) as error:
        raise DataError(f"{path}: damaged, or not a table of neighbors ({error})") from None
    return arrays, made


def _made(document: Mapping[str, str]) -> Made:
    texts = {entry.name: document[entry.name] for entry in fields(Made)}
    return Made(texts["fingerprint"], texts["metric"], texts["method"], int(texts["k"]))


def _array(path: Path, start: int, entry: Mapping[str, Any], kind: str) -> np.ndarray:
    dtype, shape = DTYPES[kind], tuple(entry["shape"])
    first, end = entry["data_offsets"]
    fits = end - first == dtype.itemsize * np.prod(shape, dtype=object)
    if entry["dtype"] != kind or not fits or min(first, *shape) < 0:
        raise ValueError("its parts do not fit together")
    if path.stat().st_size < start + end:
        raise ValueError("it is cut short")
    if first == end:
        return np.zeros(shape, dtype)
    return np.memmap(path, dtype, mode="r", offset=start + first, shape=shape)

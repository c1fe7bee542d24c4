"""Where the bytes of a picture come from: a folder, tar shards, or Arrow files. Nothing is unpacked."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Protocol

import numpy as np
import pyarrow as pa
from jaxtyping import Int

from trope.errors import DataError

MAX_FILE_BYTES = 256 * 2**20

Rows = Int[np.ndarray, "rows"]


class ImageStore(Protocol):
    """Reads the encoded bytes of the picture of a row; small, picklable, safe to use in workers."""

    def read(self, row: int) -> bytes:
        """The encoded picture, or a `DataError` that names it."""
        ...

    def stamp(self, row: int) -> str:
        """What changes when the picture may have changed, found without reading it."""
        ...

    def take(self, rows: Rows) -> ImageStore:
        """The store of a selection of rows."""
        ...


def inside(root: Path, relative: str) -> Path:
    """The file `relative` names below `root`; a path that leaves the folder is refused."""
    pure = PurePosixPath(relative)
    if pure.is_absolute() or ".." in pure.parts or "\x00" in relative or not pure.parts:
        raise DataError(f"{relative!r}: the path leaves the data set's folder")
    return root / pure


@dataclass(frozen=True)
class FolderImages:
    """Pictures as files below the data set's folder."""

    root: Path
    paths: pa.ChunkedArray

    def path(self, row: int) -> Path:
        """The picture's file."""
        relative = self.paths[row].as_py()
        if relative is None:
            raise DataError(f"row {row + 1} has no image")
        return inside(self.root, relative)

    def read(self, row: int) -> bytes:
        """The file's bytes."""
        path = self.path(row)
        try:
            if path.stat().st_size > MAX_FILE_BYTES:
                raise DataError(f"{path}: larger than {MAX_FILE_BYTES >> 20} MiB")
            return path.read_bytes()
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: {getattr(error, 'strerror', None) or error}") from None

    def stamp(self, row: int) -> str:
        """Name, size and time of the last change."""
        path = self.path(row)
        try:
            status = path.stat()
        except (OSError, ValueError) as error:
            raise DataError(f"{path}: {getattr(error, 'strerror', None) or error}") from None
        return f"{path.resolve()}|{status.st_size}|{status.st_mtime_ns}"

    def take(self, rows: Rows) -> FolderImages:
        """The same folder, other rows."""
        return FolderImages(self.root, self.paths.take(pa.array(rows)))


@dataclass(frozen=True)
class TarImages:
    """Pictures as members of uncompressed tar shards, read in place."""

    shards: tuple[Path, ...]
    shard: Int[np.ndarray, "rows"]
    offset: Int[np.ndarray, "rows"]
    size: Int[np.ndarray, "rows"]

    def read(self, row: int) -> bytes:
        """The member's bytes."""
        path, size = self.shards[int(self.shard[row])], int(self.size[row])
        if not 0 < size <= MAX_FILE_BYTES:
            raise DataError(f"{path}: row {row + 1} has no image of a sane size ({size} bytes)")
        with path.open("rb") as handle:
            data = os.pread(handle.fileno(), size, int(self.offset[row]))
        if len(data) != size:
            raise DataError(f"{path}: the shard ends inside the image of row {row + 1}")
        return data

    def stamp(self, row: int) -> str:
        """The shard's name, size and time of change, and the place inside it."""
        path = self.shards[int(self.shard[row])]
        status = path.stat()
        return f"{path.resolve()}|{status.st_size}|{status.st_mtime_ns}|{self.offset[row]}"

    def take(self, rows: Rows) -> TarImages:
        """The same shards, other rows."""
        return TarImages(self.shards, self.shard[rows], self.offset[rows], self.size[rows])


@dataclass(frozen=True)
class ArrowImages:
    """Pictures as bytes in a column of memory-mapped Arrow stream files."""

    files: tuple[Path, ...]
    column: str
    rows: Int[np.ndarray, "rows"]
    _opened: list[pa.ChunkedArray] = field(default_factory=list, repr=False, compare=False)

    def __getstate__(self) -> dict[str, object]:
        return {"files": self.files, "column": self.column, "rows": self.rows, "_opened": []}

    def read(self, row: int) -> bytes:
        """The cell's bytes."""
        if not self._opened:
            self._opened.append(pa.concat_tables(map_arrow(self.files)).column(self.column))
        cell = self._opened[0][int(self.rows[row])].as_py()
        data = cell.get("bytes") if isinstance(cell, dict) else cell
        if not isinstance(data, bytes) or len(data) > MAX_FILE_BYTES:
            raise DataError(f"{self.files[0].parent}: row {row + 1} holds no image bytes")
        return data

    def stamp(self, row: int) -> str:
        """The files' names, sizes and times of change, and the row."""
        states = [(path.resolve(), path.stat()) for path in self.files]
        return "|".join(f"{p}|{s.st_size}|{s.st_mtime_ns}" for p, s in states) + f"|{self.rows[row]}"

    def take(self, rows: Rows) -> ArrowImages:
        """The same files, other rows."""
        return ArrowImages(self.files, self.column, self.rows[rows])


@dataclass(frozen=True)
class NoImages:
    """A data set without pictures."""

    def read(self, row: int) -> bytes:
        """Always refused."""
        raise DataError(f"row {row + 1} has no image")

    def stamp(self, row: int) -> str:
        """Always refused."""
        raise DataError(f"row {row + 1} has no image")

    def take(self, rows: Rows) -> NoImages:
        """Still none."""
        return self


def map_arrow(files: Sequence[Path]) -> list[pa.Table]:
    """Arrow stream files as tables over mapped memory, nothing copied."""
    tables = []
    for path in files:
        try:
            tables.append(pa.ipc.open_stream(pa.memory_map(str(path))).read_all())
        except (OSError, pa.ArrowInvalid) as error:
            raise DataError(f"{path}: not an Arrow stream file ({error})") from None
    return tables

"""Where the bytes of a picture come from: a folder, tar shards or Arrow files, read in place."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
from jaxtyping import Int

from trope.data.arrowfiles import map_arrow
from trope.errors import DataError

MAX_FILE_BYTES = 256 * 2**20
DRIVE = re.compile(r"[A-Za-z]:[\\/]")

Rows = Int[np.ndarray, " rows"]


@runtime_checkable
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
    if why := refusal(relative):
        raise DataError(
            f"{relative!r}: {why}; a path must lead from the data set's folder to a file"
        )
    return root / relative


def refusal(relative: str) -> str:
    """Why a path is not opened, wherever it would lead; empty for a plain path below a folder."""
    parts = relative.split("/")
    if relative.startswith("/") or DRIVE.match(relative):
        return "is absolute"
    if ".." in parts:
        return "has '..'"
    return "names no file" if {*parts} <= {"", "."} or "\x00" in relative else ""


@dataclass(frozen=True, eq=False)
class FolderImages:
    """Pictures as files below the data set's folder."""

    root: Path
    paths: pa.ChunkedArray

    def path(self, row: int) -> Path:
        """The picture's file."""
        relative = self.paths[int(row)].as_py()
        if relative is None:
            raise DataError(f"row {row + 1} has no image")
        return inside(self.root, relative)

    def read(self, row: int) -> bytes:
        """The file's bytes."""
        path = self.path(row)
        if _status(path).st_size > MAX_FILE_BYTES:
            raise DataError(f"{path}: larger than {MAX_FILE_BYTES >> 20} MiB")
        try:
            return path.read_bytes()
        except OSError as error:
            raise DataError(f"{path}: {error.strerror or error}") from None

    def head(self, row: int, most: int) -> bytes:
        """The first bytes of the file."""
        path = self.path(row)
        _status(path)
        try:
            with path.open("rb") as handle:
                return handle.read(most)
        except OSError as error:
            raise DataError(f"{path}: {error.strerror or error}") from None

    def stamp(self, row: int) -> str:
        """Name, size and time of the last change."""
        path = self.path(row)
        status = _status(path)
        return f"{self._base / path.relative_to(self.root)}|{status.st_size}|{status.st_mtime_ns}"

    def elsewhere(self, row: int) -> Path | None:
        """Where the file really is, if a link leads out of the folder."""
        real = self.path(row).resolve()
        return None if real.is_relative_to(self._base) else real

    def take(self, rows: Rows) -> FolderImages:
        """The same folder, other rows."""
        return FolderImages(self.root, self.paths.take(pa.array(rows)))

    @cached_property
    def _base(self) -> Path:
        return self.root.resolve()


@dataclass(frozen=True, eq=False)
class TarImages:
    """Pictures as members of uncompressed tar shards, read in place."""

    shards: tuple[Path, ...]
    shard: Int[np.ndarray, " rows"]
    offset: Int[np.ndarray, " rows"]
    size: Int[np.ndarray, " rows"]

    def read(self, row: int) -> bytes:
        """The member's bytes."""
        path, size = self.shards[int(self.shard[row])], int(self.size[row])
        if not 0 <= size <= MAX_FILE_BYTES:
            raise DataError(f"{path}: row {row + 1} has no image of a sane size ({size} bytes)")
        try:
            with path.open("rb") as handle:
                data = os.pread(handle.fileno(), size, int(self.offset[row]))
        except OSError as error:
            raise DataError(f"{path}: {error.strerror or error}") from None
        if len(data) != size:
            raise DataError(f"{path}: the shard ends inside the image of row {row + 1}")
        return data

    def stamp(self, row: int) -> str:
        """The shard's name, size and time of change, and the place inside it."""
        return f"{_stamp(self.shards[int(self.shard[row])])}|{self.offset[row]}"

    def take(self, rows: Rows) -> TarImages:
        """The same shards, other rows."""
        return TarImages(self.shards, self.shard[rows], self.offset[rows], self.size[rows])


@dataclass(frozen=True, eq=False)
class ArrowImages:
    """Pictures as bytes in a column of memory-mapped Arrow stream files."""

    files: tuple[Path, ...]
    column: str
    rows: Int[np.ndarray, " rows"]
    _opened: list[pa.ChunkedArray] = field(default_factory=list, repr=False)

    def __getstate__(self) -> dict[str, object]:
        return {"files": self.files, "column": self.column, "rows": self.rows, "_opened": []}

    def read(self, row: int) -> bytes:
        """The cell's bytes."""
        if not self._opened:
            self._opened.append(self._mapped())
        cell = self._opened[0][int(self.rows[row])]
        if isinstance(cell, pa.StructScalar):
            cell = cell.get("bytes")
        data = cell.as_py() if cell is not None and _is_bytes(cell.type) else None
        if not isinstance(data, bytes) or len(data) > MAX_FILE_BYTES:
            raise DataError(f"{self.files[0].parent}: row {row + 1} holds no image bytes")
        return data

    def stamp(self, row: int) -> str:
        """A digest of the files' names, sizes and times of change, and the row."""
        return f"{self._state}|{self.rows[row]}"

    def take(self, rows: Rows) -> ArrowImages:
        """The same files, other rows."""
        return ArrowImages(self.files, self.column, self.rows[rows], self._opened)

    def _mapped(self) -> pa.ChunkedArray:
        tables = map_arrow(self.files, self.column)
        chunks = [chunk for table in tables for chunk in table.column(0).chunks]
        try:
            return pa.chunked_array(chunks)
        except (TypeError, pa.ArrowException):  # files of one data set with different columns
            raise DataError(
                f"{self.files[0].parent}: '{self.column}' differs between the files"
            ) from None

    @cached_property
    def _state(self) -> str:
        stamps = "|".join(map(_stamp, self.files))
        return hashlib.blake2b(
            stamps.encode("utf-8", "surrogateescape"), digest_size=16
        ).hexdigest()


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


def _is_bytes(kind: pa.DataType) -> bool:
    kinds = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    return any(is_kind(kind) for is_kind in kinds)


def _status(path: Path) -> os.stat_result:
    """Size and times of a plain file; a pipe or device, which may never end, is refused."""
    try:
        status = path.stat()
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    if not stat.S_ISREG(status.st_mode):
        raise DataError(f"{path}: not a plain file")
    return status


def _stamp(path: Path) -> str:
    status = _status(path)
    return f"{path.resolve()}|{status.st_size}|{status.st_mtime_ns}"

"""Checksums of the files of an index: a file is compared when it is first seen, and after a change.

A file that has been compared is noted in the cache by its place on the disk, size and dates, so
that opening a large index again reads only what is asked for.
"""

from __future__ import annotations

import hashlib
import os
import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from trope.errors import DataError
from trope.runtime import cache_folder, cores

BLOCK = 2**24
SETTLED = 2 * 10**9  # nanoseconds: the coarsest dates of a file system


def checksum(path: Path) -> str:
    """CRC-32 of each 16 MB of a file, and then of these."""
    starts = range(0, path.stat().st_size, BLOCK)
    if len(starts) < 2:  # starting threads takes longer than the small files of most indexes
        blocks = [_block(path, start) for start in starts]
    else:
        with ThreadPoolExecutor(cores()) as pool:
            blocks = list(pool.map(lambda start: _block(path, start), starts))
    whole = b"".join(value.to_bytes(4, "little") for value in blocks)
    return f"{zlib.crc32(whole):08x}"


def refuse_damaged(path: Path, size: int, wanted: str, *, again: bool = False) -> None:
    """Refuse a file that is not as it was written; with `again`, whatever is noted of it."""
    status = path.stat()
    if status.st_size != size:
        raise DataError(f"{path}: damaged (has {status.st_size:,} bytes, not {size:,}){ADVICE}")
    note = _note(path, status, wanted)
    if note.exists() and not again:
        return
    if checksum(path) != wanted:
        note.unlink(missing_ok=True)
        raise DataError(f"{path}: damaged (its checksum is not that of its content){ADVICE}")
    if time.time_ns() - status.st_ctime_ns > SETTLED:
        with suppress(OSError):  # a cache that cannot be written costs time, nothing else
            note.parent.mkdir(parents=True, exist_ok=True)
            note.touch()


ADVICE = "; build the index anew, or restore the file"


def _note(path: Path, status: os.stat_result, wanted: str) -> Path:
    known = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    name = hashlib.blake2b(f"{path.resolve()}|{known}|{wanted}".encode(), digest_size=16)
    return cache_folder() / "compared" / name.hexdigest()


def _block(path: Path, start: int) -> int:
    with path.open("rb") as file:
        file.seek(start)
        return zlib.crc32(file.read(BLOCK))

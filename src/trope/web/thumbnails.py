"""Small copies of pictures, made once: kept beside the index, or in the cache folder."""

from __future__ import annotations

import hashlib
import io
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from trope.data.images import thumbnail
from trope.errors import TropeError
from trope.files import refuse_unwritable, replacing
from trope.recent import Recent
from trope.runtime import cache_folder

SIZES = (256, 512, 1280)  # pixels of the longer side
QUALITY = 84
IN_MEMORY = 64 * 2**20  # bytes
ON_DISK = 2**30
SWEPT = 0.8  # of what may be on disk, once there is too much
LOCKS = 16


def kept_beside(index: Path, name: str) -> Path:
    """A folder for what is made from an index: in it, or elsewhere where it cannot be written."""
    folder = index / name
    try:
        refuse_unwritable(folder / "probe")
    except TropeError:
        place = hashlib.blake2b(os.fsencode(index.resolve()), digest_size=8).hexdigest()
        return cache_folder() / "web" / place / name
    return folder


class Thumbnails:
    """JPEG copies by name and size; nothing is kept once what they are beside is not `there`."""

    def __init__(
        self, folder: Path, most: int = ON_DISK, there: Callable[[], bool] = lambda: True
    ) -> None:
        self._folder, self._most, self._there = folder, most, there
        self._recent: Recent[str, bytes] = Recent(10_000, IN_MEMORY, len)
        self._locks = [threading.Lock() for _ in range(LOCKS)]
        self._sweeping, self._bytes = threading.Lock(), _total(folder)

    def get(self, name: str, size: int, read: Callable[[], bytes]) -> bytes:
        """The copy of a picture; `read` gives the picture itself, if it is needed."""
        key = hashlib.blake2b(f"{size}|{name}".encode("utf-8", "surrogatepass"), digest_size=16)
        file = key.hexdigest()
        if (found := self._recent.get(file)) is not None:
            return found
        with self._locks[int(file[0], 16) % LOCKS]:  # two who want the same make it once
            found = self._recent.get(file) or self._on_disk(file) or self._made(file, size, read)
        return self._recent.put(file, found)

    def _path(self, file: str) -> Path:
        return self._folder / file[:2] / f"{file}.jpg"

    def _on_disk(self, file: str) -> bytes | None:
        path = self._path(file)
        with suppress(OSError):
            os.utime(path)  # the longest unused go first
            return path.read_bytes() or None
        return None

    def _made(self, file: str, size: int, read: Callable[[], bytes]) -> bytes:
        content = drawn(read(), size)
        if not self._there():
            return content
        with suppress(TropeError, OSError):  # a full disk costs time, not the picture
            with replacing(self._path(file)) as handle:
                handle.write(content)
            self._bytes += len(content)
            if self._bytes > self._most:
                self._sweep()
        return content

    def _sweep(self) -> None:
        """Take away the longest unused, until there is room again."""
        if not self._sweeping.acquire(blocking=False):
            return
        try:
            files = sorted(self._folder.glob("*/*.jpg"), key=_used)
            left = _total(self._folder)
            for path in files:
                if left <= SWEPT * self._most:
                    break
                with suppress(OSError):
                    left -= path.stat().st_size
                    path.unlink()
            self._bytes = left
        finally:
            self._sweeping.release()


def drawn(data: bytes, size: int) -> bytes:
    """A small JPEG copy of a picture."""
    small, buffer = thumbnail(data, "picture", size), io.BytesIO()
    small.save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


def _used(path: Path) -> float:
    with suppress(OSError):
        return path.stat().st_mtime
    return 0.0


def _total(folder: Path) -> int:
    total = 0
    for path in folder.glob("*/*.jpg"):
        with suppress(OSError):
            total += path.stat().st_size
    return total

"""Arrays of features on disk, in files of a bounded size that are whole or not there.

`000001.npy` holds the features, `000001.json` the digests of the pictures and a checksum over both;
the second is written last, and without it the first does not count. Where an item has several rows
of features, such as a text's tokens, it also says how many.
"""

from __future__ import annotations

import hashlib
import io
import mmap
import os
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import orjson
from jaxtyping import Int, Shaped

from trope.data.digests import WIDTH, Digests, digest
from trope.files import replacing, write_json

Rows: TypeAlias = Int[np.ndarray, " images"]
Features: TypeAlias = Shaped[np.ndarray, "images ..."]
Counts: TypeAlias = Int[np.ndarray, " rows"]  # one for each digest

COUNT = np.dtype("<i4")
SETTLED = 2 * 10**9  # nanoseconds: the coarsest dates of a file system

_Key: TypeAlias = tuple[Path, int, int, bytes]
_INTACT: set[_Key] = set()  # files whose checksum this process has compared


@dataclass(frozen=True, eq=False)
class Shard:
    """One file of features, and the digests of its pictures; `counts` rows for each, or one."""

    path: Path
    digests: Digests
    checksum: str
    counts: Counts | None = None

    @cached_property
    def intact(self) -> bool:
        """Whether every byte is as it was written; looked at once in a process."""
        try:
            with self.path.open("rb") as file:
                status = os.fstat(file.fileno())
                key = (self.path, status.st_size, status.st_mtime_ns, self._description)
                return key in _INTACT or self._verified(file.fileno(), key)
        except (OSError, ValueError):  # it vanished, or is empty
            return False

    @property
    def sizes(self) -> Counts:
        """How many rows of features each picture has."""
        return np.ones(len(self.digests), np.int64) if self.counts is None else self.counts

    @property
    def _description(self) -> bytes:
        counts = self.sizes.astype(COUNT).tobytes()
        return digest(self.checksum.encode() + self.digests.tobytes() + counts)

    def _verified(self, file: int, key: _Key) -> bool:
        """Compare the checksum; a file is remembered once a change must show in its date."""
        with mmap.mmap(file, 0, prot=mmap.PROT_READ) as data:
            same = _checksum(data, self.digests, self.counts) == self.checksum
        if same and time.time_ns() - key[2] > SETTLED:
            _INTACT.add(key)
        return same

    def features(self) -> Features:
        """The features, mapped, not read."""
        return np.asanyarray(np.load(self.path, mmap_mode="r", allow_pickle=False))

    def remove(self) -> None:
        """Take a damaged shard away; what it held is computed again."""
        self.path.with_suffix(".json").unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)


@dataclass(frozen=True)
class Places:
    """Where the features of pictures are; a `part` of -1 is nowhere."""

    parts: list[Shard]
    part: Rows
    offset: Rows

    @property
    def missing(self) -> Int[np.ndarray, " some"]:
        """Which pictures are nowhere."""
        return np.flatnonzero(self.part < 0)


def look_up(there: list[Shard], wanted: Digests) -> Places:
    """Which shard holds each picture, and where in it."""
    nowhere = np.full(len(wanted), -1)
    if not sum(len(shard.digests) for shard in there):
        return Places(there, nowhere, nowhere.copy())
    sizes = [len(shard.digests) for shard in there]
    known = np.concatenate([shard.digests for shard in there])
    part = np.repeat(np.arange(len(there)), sizes)
    offset = np.concatenate([np.arange(size) for size in sizes])
    order = np.argsort(known, kind="stable")
    places = order[np.minimum(np.searchsorted(known, wanted, sorter=order), len(known) - 1)]
    hit = known[places] == wanted
    return Places(there, np.where(hit, part[places], -1), np.where(hit, offset[places], -1))


def shards(folder: Path) -> list[Shard]:
    """The shards of a folder, by age."""
    found = (_shard(path) for path in sorted(folder.glob("[0-9]*.json")))
    return [shard for shard in found if shard is not None]


def write(
    folder: Path, digests: Digests, features: Features, counts: Counts | None = None
) -> Shard:
    """A new shard, on disk before this returns. The folder must be locked."""
    buffer = io.BytesIO()
    np.save(buffer, features, allow_pickle=False)
    path = folder / f"{_last_number(folder) + 1:06d}.npy"
    with replacing(path) as file:
        file.write(buffer.getbuffer())
    checksum = _checksum(buffer.getbuffer(), digests, counts)
    shard = Shard(path, digests, checksum, counts)
    content = {"sha256": checksum, "digests": digests.tobytes().hex()}
    if counts is not None:
        content["counts"] = counts.astype(COUNT).tobytes().hex()
    write_json(path.with_suffix(".json"), content)
    return shard


def clean(folder: Path) -> list[str]:
    """Take away what killed processes left half-written, and say what was damaged.

    The folder must be locked.
    """
    good = {shard.path.stem for shard in shards(folder)}
    damaged = [path for path in folder.glob("[0-9]*.json") if path.stem not in good]
    stray = [path for path in folder.glob("[0-9]*.npy") if path.stem not in good]
    for path in [*damaged, *stray, *folder.glob(".*.partial")]:
        path.unlink(missing_ok=True)
    return [f"{path}: damaged; its features are computed again" for path in damaged]


def _shard(path: Path) -> Shard | None:
    try:
        content: Any = orjson.loads(path.read_bytes())
        digests = np.frombuffer(bytes.fromhex(content["digests"]), f"S{WIDTH}")
        counts = content.get("counts")
        several = None if counts is None else np.frombuffer(bytes.fromhex(counts), COUNT)
        return Shard(path.with_suffix(".npy"), digests, str(content["sha256"]), several)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None  # not readable: its pictures are computed again


def _checksum(data: mmap.mmap | memoryview, digests: Digests, counts: Counts | None) -> str:
    total = hashlib.sha256(data)
    total.update(digests.tobytes())
    if counts is not None:
        total.update(counts.astype(COUNT).tobytes())
    return total.hexdigest()


def _last_number(folder: Path) -> int:
    names = [path.stem for path in folder.glob("[0-9]*.*")]
    return max((int(name) for name in names if name.isdigit()), default=0)

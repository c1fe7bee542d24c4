"""WebDataset tar shards: files that share a key up to the first dot are one row."""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import numpy as np
import orjson

from trope.data.readers.folder import IMAGE_SUFFIXES, MAX_TEXT_BYTES
from trope.data.readers.opened import Opened
from trope.data.readers.rows import Columns, Row
from trope.data.rejects import Rejects
from trope.data.stores import TarImages
from trope.errors import DataError

TEXT_SUFFIXES = frozenset([".txt", ".json", ".cls"])
BLOCK = 10_000


@dataclass
class _Sample:
    """The members of one key: where its picture lies, and its small text members."""

    key: str
    shard: int
    image: tuple[str, int, int] | None = None
    members: dict[str, bytes] = field(default_factory=dict)


def read(path: Path, rejects: Rejects) -> Opened:
    """Index one shard or a folder of shards; pictures stay where they are."""
    shards = tuple(sorted(path.rglob("*.tar"))) if path.is_dir() else (path,)
    columns, places, block = Columns(rejects), [], []
    for line, sample in enumerate(_samples(shards), 1):
        row = _row(sample, line, rejects)
        if row is None:
            continue
        places.append((line, sample.shard, *(sample.image[1:] if sample.image else (0, 0))))
        block.append((line, row))
        if len(block) == BLOCK:
            columns.add(block)
            block = []
    columns.add(block)
    table, lines = columns.table()
    place = np.array(places, np.int64).reshape(-1, 4)
    place = place[np.isin(place[:, 0], lines)]
    return Opened(table, lines, TarImages(shards, place[:, 1], place[:, 2], place[:, 3]))


def _samples(shards: tuple[Path, ...]) -> Iterator[_Sample]:
    for number, shard in enumerate(shards):
        current: _Sample | None = None
        for name, suffix, offset, size, data in _members(shard):
            if current is None or current.key != name:
                if current:
                    yield current
                current = _Sample(name, number)
            if suffix in IMAGE_SUFFIXES and current.image is None:
                current.image = (suffix, offset, size)
            elif data is not None:
                current.members[suffix] = data
        if current:
            yield current


def _members(shard: Path) -> Iterator[tuple[str, str, int, int, bytes | None]]:
    """Key, suffix, place and (for small text members) content of each regular file of a shard."""
    try:
        with tarfile.open(shard, "r:") as archive:
            for member in archive:
                if not member.isreg():
                    continue
                pure = PurePosixPath(member.name)
                stem, _, ending = pure.name.partition(".")
                suffix = f".{ending.lower()}"
                data = None
                if suffix in TEXT_SUFFIXES and member.size <= MAX_TEXT_BYTES:
                    handle = archive.extractfile(member)
                    data = handle.read() if handle else None
                yield str(pure.with_name(stem)), suffix, member.offset_data, member.size, data
    except (tarfile.TarError, OSError, EOFError) as error:
        raise DataError(f"{shard}: not an uncompressed, whole tar shard ({error})") from None


def _row(sample: _Sample, line: int, rejects: Rejects) -> Row | None:
    try:
        row: Row = {"id": sample.key}
        if ".json" in sample.members:
            document = orjson.loads(sample.members[".json"])
            row |= document if isinstance(document, dict) else {}
        if ".txt" in sample.members:
            row["text"] = sample.members[".txt"].decode("utf-8-sig").strip()
        if ".cls" in sample.members:
            row["labels"] = [sample.members[".cls"].decode("utf-8").strip()]
    except ValueError as error:
        rejects.add(line, f"{sample.key}: {error}", sample.key)
        return None
    row["image"] = f"{sample.key}{sample.image[0]}" if sample.image else None
    return row

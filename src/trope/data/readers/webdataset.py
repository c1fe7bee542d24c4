"""WebDataset tar shards: files of a shard that share a name up to the first dot are one row."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Int, Shaped

from trope.data import naming
from trope.data.documents import loads
from trope.data.identity import codes
from trope.data.readers.folder import IMAGE_SUFFIXES, MAX_TEXT_BYTES, split_of
from trope.data.readers.opened import Opened
from trope.data.readers.rows import Columns, Row, undisturbed
from trope.data.readers.tar import DamagedTarError, Member, members
from trope.data.rejects import Rejects
from trope.data.stores import TarImages
from trope.errors import DataError
from trope.wording import counted

TEXT_SUFFIXES = frozenset([".txt", ".json", ".cls"])
BLOCK = 10_000
NOWHERE = (0, -1)  # offset and size of no picture


@dataclass(slots=True)
class _Sample:
    """The members of one key: where its picture lies, its small text members, what is wrong."""

    image: tuple[str, int, int] | None = None
    texts: dict[str, bytes] = field(default_factory=dict)
    fault: str = ""


def shards(root: Path) -> list[Path]:
    """The tar files of a folder: its own, and those of folders named after a split."""
    found = []
    with os.scandir(root) as entries:
        for entry in entries:
            if entry.name.endswith(".tar") and not entry.name.startswith("."):
                found.append(root / entry.name)
            elif split_of(f"{entry.name}/") and entry.is_dir():
                found += (root / entry.name).glob("[!.]*.tar")
    return sorted(found)


def read(path: Path, rejects: Rejects, mapping: naming.Columns) -> Opened:
    """Index one shard or a folder of shards; pictures stay where they are."""
    files = tuple(shards(path)) if path.is_dir() else (path,)
    columns, others, line = Columns(rejects, mapping), Counter[str](), 0
    places = [np.empty((0, 4), np.int64)]  # line, shard, offset, size
    names = [_name(shard, path) for shard in files]
    for number, shard in enumerate(files):
        split = split_of(names[number])
        prefix = f"{names[number]}/" if len(files) > 1 else ""
        with undisturbed():
            found, faults = _samples(shard, rejects, line, len(files) == 1, others)
            samples = list(found.items())
            for start in range(0, len(samples), BLOCK):
                part = samples[start : start + BLOCK]
                kept = list(_rows(part, line + start + 1, split, prefix, rejects))
                columns.add([row[0] for row in kept], [row[2] for row in kept])
                places.append(_places(kept, number))
        line += len(samples) + faults
    table, lines = columns.table()
    place = np.concatenate(places)
    place = place[np.isin(place[:, 0], lines)]
    table = _told_apart(table, np.array(names)[place[:, 1]])
    images = TarImages(files, place[:, 1], place[:, 2], place[:, 3])
    return Opened(table, lines, images, tuple(_remarks(others)))


def _remarks(others: Counter[str]) -> Iterator[str]:
    """What of the shards was not looked at."""
    if others:
        kinds = ", ".join(f"{count:,} {suffix}" for suffix, count in others.most_common(5))
        total = others.total()
        left = counted(total, "member of another kind was", "members of other kinds were")
        yield f"{left} left out: {kinds}"


def _name(shard: Path, path: Path) -> str:
    """What a shard is called in the names of its pictures: keys may repeat from shard to shard."""
    return str(shard.relative_to(path).with_suffix("")) if path.is_dir() else shard.stem


def _told_apart(table: pa.Table, shards: Shaped[np.ndarray, " rows"]) -> pa.Table:
    """Ids that stand in several shards get the shard's name in front."""
    numbers = codes(table.column("id"))
    repeated = np.bincount(numbers, minlength=1)[numbers] > 1
    if not repeated.any() or len(np.unique(shards)) < 2:
        return table
    longer = pc.binary_join_element_wise(pa.array(shards), table.column("id"), "/")
    made = pc.if_else(pa.array(repeated), longer, table.column("id"))
    return table.set_column(table.column_names.index("id"), "id", made)


def _places(kept: list[tuple[int, _Sample, Row]], shard: int) -> Int[np.ndarray, "rows 4"]:
    found = [(line, shard, *(s.image[1:] if s.image else NOWHERE)) for line, s, _ in kept]
    return np.array(found, np.int64).reshape(-1, 4)


def _samples(
    shard: Path, rejects: Rejects, line: int, alone: bool, others: Counter[str]
) -> tuple[dict[str, _Sample], int]:
    """The samples of a shard by key, up to a damage, which counts as one more row: 0 or 1."""
    samples: dict[str, _Sample] = {}
    try:
        with shard.open("rb") as handle:
            for member in members(shard):
                _add(samples, member, handle.fileno(), others)
    except DamagedTarError as error:
        if alone and not samples:
            raise DataError(f"{shard}: {error}") from None
        rejects.add(line + len(samples) + 1, f"{shard.name}: {error}", shard.name)
        return samples, 1
    return samples, 0


def _add(samples: dict[str, _Sample], member: Member, file: int, others: Counter[str]) -> None:
    folder, _, name = member.name.removeprefix("./").rpartition("/")
    stem, dot, ending = name.partition(".")
    if not stem or not dot:
        return  # hidden files and files without an ending belong to no sample
    suffix = f".{ending.lower()}"
    sample = samples.setdefault(f"{folder}/{stem}" if folder else stem, _Sample())
    if suffix in IMAGE_SUFFIXES:
        if sample.image and sample.image[0] == suffix:
            sample.fault = f"holds {name} twice"
        sample.image = sample.image or (suffix, member.offset, member.size)
    elif suffix in TEXT_SUFFIXES:
        if suffix in sample.texts or member.size > MAX_TEXT_BYTES:
            large = f"{name} is larger than {MAX_TEXT_BYTES >> 20} MiB"
            sample.fault = f"holds {name} twice" if suffix in sample.texts else large
        sample.texts[suffix] = os.pread(file, min(member.size, MAX_TEXT_BYTES), member.offset)
    else:
        others[suffix] += 1


def _rows(
    samples: list[tuple[str, _Sample]],
    first: int,
    split: str | None,
    prefix: str,
    rejects: Rejects,
) -> Iterator[tuple[int, _Sample, Row]]:
    for line, (key, sample) in enumerate(samples, first):
        try:
            if sample.fault:
                raise ValueError(sample.fault)
            yield line, sample, _row(key, sample, split, prefix)
        except ValueError as error:
            rejects.add(line, f"{key}: {error}", b"\n".join([key.encode(), *sample.texts.values()]))


def _row(key: str, sample: _Sample, split: str | None, prefix: str) -> Row:
    row: Row = {"id": key, "split": split}
    if ".json" in sample.texts:
        row |= _document(sample.texts[".json"])
    if ".txt" in sample.texts:
        row["text"] = _decoded(".txt", sample.texts[".txt"]).strip()
    if ".cls" in sample.texts:
        row.setdefault("labels", [_decoded(".cls", sample.texts[".cls"]).strip()])
    row["image"] = f"{prefix}{key}{sample.image[0]}" if sample.image else None
    return row


def _document(content: bytes) -> dict[str, Any]:
    try:
        document = loads(_decoded(".json", content))
    except RecursionError:
        raise ValueError(".json is nested too deeply") from None
    if not isinstance(document, dict):
        raise ValueError(f".json holds {type(document).__name__}, expected an object")
    return document


def _decoded(suffix: str, content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError(f"{suffix} is not UTF-8 text") from None

"""A folder of pictures, each with a text file of the same name: `cats/1.jpg` and `cats/1.txt`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from trope.data.readers.opened import Opened
from trope.data.readers.rows import Columns, Row
from trope.data.rejects import Rejects
from trope.data.schema import SPLIT_ALIASES
from trope.data.stores import FolderImages
from trope.errors import DataError
from trope.types import SPLITS

IMAGE_SUFFIXES = frozenset(
    [".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".jp2", ".avif"]
)
MAX_TEXT_BYTES = 16 * 2**20
BLOCK = 10_000


def read(root: Path, rejects: Rejects) -> Opened:
    """Pair pictures with texts by name; a top folder `train`, `val` or `test` gives the split."""
    images, texts, seen = _scan(root)
    if not any(_stem(name) in texts for name in images):
        raise DataError(
            f"{root}: no pairs.jsonl, .csv or .parquet, no .tar shards, and no picture with a .txt of "
            f"the same name ({seen:,} files looked at, {len(images):,} pictures)"
        )
    columns = Columns(rejects)
    copies = Counter(map(_stem, images))
    for start in range(0, len(images), BLOCK):
        names = images[start : start + BLOCK]
        rows = (_row(root, name, texts, copies, start + i + 1, rejects) for i, name in enumerate(names))
        columns.add([(start + i + 1, row) for i, row in enumerate(rows) if row is not None])
    table, lines = columns.table()
    return Opened(table, lines, FolderImages(root, table.column("image")), _remarks(images, texts))


def _scan(root: Path) -> tuple[list[str], set[str], int]:
    """Names of pictures (sorted) and stems of texts below `root`, without opening any."""
    images, texts, seen = [], set(), 0
    for name in _walk(root):
        seen += 1
        suffix = os.path.splitext(name)[1].lower()
        if suffix in IMAGE_SUFFIXES:
            images.append(name)
        elif suffix == ".txt":
            texts.add(_stem(name))
    return sorted(images), texts, seen


def _walk(root: Path) -> Iterator[str]:
    for folder, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        prefix = os.path.relpath(folder, root)
        for name in names:
            if not name.startswith("."):
                yield name if prefix == "." else f"{prefix}/{name}"


def _stem(name: str) -> str:
    return os.path.splitext(name)[0]


def _row(
    root: Path, name: str, texts: set[str], copies: Counter[str], line: int, rejects: Rejects
) -> Row | None:
    stem = _stem(name)
    row: Row = {"id": stem if copies[stem] == 1 else name, "image": name, "split": _split(name)}
    if stem not in texts:
        return row
    try:
        row["text"] = _text(root / f"{stem}.txt")
    except (OSError, ValueError) as error:
        rejects.add(line, f"{stem}.txt: {getattr(error, 'strerror', None) or error}", name)
        return None
    return row


def _text(path: Path) -> str:
    if path.stat().st_size > MAX_TEXT_BYTES:
        raise ValueError(f"larger than {MAX_TEXT_BYTES >> 20} MiB")
    try:
        return path.read_bytes().decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        raise ValueError(f"not UTF-8 text ({error.reason} at byte {error.start + 1})") from None


def _split(name: str) -> str | None:
    top = PurePosixPath(name).parts[0].lower()
    top = SPLIT_ALIASES.get(top, top)
    return top if top in SPLITS and "/" in name else None


def _remarks(images: list[str], texts: set[str]) -> tuple[str, ...]:
    alone = sorted(texts - set(map(_stem, images)))
    if not alone:
        return ()
    shown = ", ".join(f"{stem}.txt" for stem in alone[:3])
    return (f"{len(alone)} text files have no picture of the same name and were left out: {shown}",)

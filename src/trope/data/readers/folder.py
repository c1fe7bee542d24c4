"""A folder of pictures, each with a text file of the same name: `cats/1.jpg` and `cats/1.txt`."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from trope.data import naming
from trope.data.readers.lines import not_utf8
from trope.data.readers.opened import Opened
from trope.data.readers.rows import Columns, Row
from trope.data.rejects import Rejects
from trope.data.schema import SPLIT_ALIASES
from trope.data.stores import FolderImages
from trope.errors import DataError
from trope.types import SPLITS
from trope.wording import counted

IMAGE_SUFFIXES = frozenset(
    [
        ".jpg",
        ".jpeg",
        ".jpe",
        ".jfif",
        ".png",
        ".webp",
        ".gif",
        ".bmp",
        ".tif",
        ".tiff",
        ".jp2",
        ".avif",
    ]
)
TABLE_SUFFIXES = frozenset([".jsonl", ".ndjson", ".csv", ".tsv", ".parquet"])
MAX_TEXT_BYTES = 16 * 2**20
BLOCK = 10_000


@dataclass
class _Scan:
    """What lies below a folder: names of pictures, texts by their stem, and what else was met."""

    images: list[str] = field(default_factory=list)
    texts: dict[str, str] = field(default_factory=dict)
    tables: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    others: Counter[str] = field(default_factory=Counter)
    files: int = 0


def read(root: Path, rejects: Rejects, mapping: naming.Columns) -> Opened:
    """Pair pictures with texts by name; a top folder `train`, `val` or `test` gives the split."""
    scan = _scan(root)
    if not any(_stem(name) in scan.texts for name in scan.images):
        raise DataError(_nothing(root, scan))
    columns = Columns(rejects, mapping)
    copies = Counter(map(_stem, scan.images))
    for start in range(0, len(scan.images), BLOCK):
        numbered = enumerate(scan.images[start : start + BLOCK], start + 1)
        rows = ((line, _row(root, name, scan, copies, line, rejects)) for line, name in numbered)
        kept = [(line, row) for line, row in rows if row is not None]
        columns.add([line for line, _ in kept], [row for _, row in kept])
    table, lines = columns.table()
    return Opened(table, lines, FolderImages(root, table.column("image")), tuple(_remarks(scan)))


def split_of(name: str) -> str | None:
    """The split a relative path stands for by its top folder."""
    top, slash, _ = name.lower().partition("/")
    top = SPLIT_ALIASES.get(top, top)
    return top if slash and top in SPLITS else None


def _scan(root: Path) -> _Scan:
    """Names of pictures (sorted) and of texts below `root`, without opening any."""
    scan = _Scan()
    for name in _walk(root, scan.links):
        scan.files += 1
        stem, suffix = os.path.splitext(name)  # noqa: PTH122 (a Path per file is far slower)
        suffix = suffix.lower()
        if suffix in IMAGE_SUFFIXES:
            scan.images.append(name)
        elif suffix == ".txt":
            scan.texts[stem] = name
        elif suffix in TABLE_SUFFIXES:
            scan.tables.append(name)
        else:
            scan.others[suffix] += 1
    scan.images.sort()
    return scan


def _walk(root: Path, links: list[str]) -> Iterator[str]:
    """Names of files, relative to `root`; hidden ones are passed over, links are noted."""
    for folder, folders, names in os.walk(root, onerror=_raise):
        prefix = "" if folder == str(root) else f"{os.path.relpath(folder, root)}/"
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        links += [f"{prefix}{name}" for name in folders if (Path(folder) / name).is_symlink()]
        yield from (f"{prefix}{name}" for name in names if not name.startswith("."))


def _raise(error: OSError) -> None:
    raise error


def _stem(name: str) -> str:
    return os.path.splitext(name)[0]  # noqa: PTH122


def _row(
    root: Path, name: str, scan: _Scan, copies: Counter[str], line: int, rejects: Rejects
) -> Row | None:
    stem = _stem(name)
    row: Row = {"id": stem if copies[stem] == 1 else name, "image": name, "split": split_of(name)}
    if stem not in scan.texts:
        return row
    try:
        row["text"] = _text(root / scan.texts[stem])
    except (OSError, ValueError) as error:
        reason = f"{scan.texts[stem]}: {getattr(error, 'strerror', None) or error}"
        rejects.add(line, _shown(reason), name)
        return None
    return row


def _text(path: Path) -> str:
    if path.stat().st_size > MAX_TEXT_BYTES:
        raise ValueError(f"larger than {MAX_TEXT_BYTES >> 20} MiB")
    if not path.is_file():
        raise ValueError("not a file")
    content = path.read_bytes()
    try:
        return content.decode("utf-8-sig").strip()
    except UnicodeDecodeError as error:
        why = not_utf8(content.decode("utf-8", "surrogateescape"))
        raise ValueError(f"{why} ({error.reason} at byte {error.start + 1})") from None


def _nothing(root: Path, scan: _Scan) -> str:
    """One line on what a folder without pairs holds instead."""
    seen = f"{counted(scan.files, 'file')} looked at, {counted(len(scan.images), 'picture')}"
    other = f"; to open {_shown(min(scan.tables))}, name it" if scan.tables else ""
    return (
        f"{root}: no pairs.jsonl, .csv or .parquet, no .tar shards, and no picture with a .txt of "
        f"the same name ({seen}{other})"
    )


def _remarks(scan: _Scan) -> Iterator[str]:
    stems = set(map(_stem, scan.images))
    alone = sorted(name for stem, name in scan.texts.items() if stem not in stems)
    for name in alone:
        yield f"{_shown(name)}: no picture has the same name; left out"
    for name in scan.links:
        yield f"{_shown(name)}: a linked folder, not entered"
    if scan.others:
        kinds = (f"{n:,} {_shown(s) or 'without an ending'}" for s, n in scan.others.most_common(5))
        total = scan.others.total()
        left = counted(total, "file of another kind was", "files of other kinds were")
        yield f"{left} left out: {', '.join(kinds)}"


def _shown(name: str) -> str:
    """A file name that can be printed, whatever bytes it has."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")

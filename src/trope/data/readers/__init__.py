"""`open`: any supported file or folder as `Pairs`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path

from trope.data import naming
from trope.data.pairs import Pairs
from trope.data.readers import csv, folder, huggingface, jsonl, parquet, webdataset
from trope.data.readers.labels import tidied
from trope.data.readers.opened import Opened
from trope.data.rejects import Rejects
from trope.errors import DataError, UsageError

Reader = Callable[[Path, Rejects, naming.Columns], Opened]

READERS: dict[str, Reader] = {
    ".jsonl": jsonl.read,
    ".ndjson": jsonl.read,
    ".csv": csv.read,
    ".tsv": csv.read,
    ".parquet": parquet.read,
    ".tar": webdataset.read,
}


LINED = (jsonl.read, csv.read)  # the others have rows, but no lines


def open(
    path: str | os.PathLike[str],
    *,
    collect: bool = False,
    columns: Mapping[str, str] | None = None,
) -> Pairs:
    """Open a data set: a table (`.jsonl`, `.csv`, `.tsv`, `.parquet`), tar shards, or a folder.

    A folder holds `pairs.jsonl` (or `.csv`, `.tsv`, `.parquet`), or WebDataset `.tar` shards, or a
    Hugging Face data set saved to disk, or pictures with a `.txt` of the same name. An unreadable
    row is an error that names it; with `collect` such rows are set aside in `Pairs.rejected`.
    Columns under other names are mapped by `columns`, such as `{"text": "headline"}`.
    """
    if not os.fspath(path):
        raise UsageError("no file or folder was named")
    place, mapping = Path(path), naming.mapped(columns)
    try:
        source, reader = _reader(place)
        rejects = Rejects(str(source), collect, "line" if reader in LINED else "row")
        opened = reader(source, rejects, mapping)
    except PermissionError as error:
        raise UsageError(f"{error.filename or place}: no permission to read it") from None
    except OSError as error:
        raise UsageError(f"{error.filename or place}: {error.strerror or error}") from None
    if not len(opened.table) and not rejects.rows:
        raise DataError(f"{source}: empty: there is no row in it")
    root = source if source.is_dir() else source.parent
    rejected = tuple(sorted(rejects.rows, key=lambda row: row.line))
    table, about_labels = tidied(opened, rejects.unit)
    remarks = (*opened.remarks, *about_labels, *naming.overlooked(table))
    return Pairs(table, opened.images, root, opened.lines, place, rejected, remarks, rejects.unit)


def _reader(path: Path) -> tuple[Path, Reader]:
    """The file to read and how; decided by names, never by guessing from content."""
    if not path.exists():
        raise UsageError(f"{path}: no such file or folder")
    if path.is_dir():
        return _folder_reader(path)
    reader = READERS.get(path.suffix.lower())
    if reader is None:
        raise UsageError(f"{path}: unknown kind of file; expected {', '.join(READERS)} or a folder")
    if path.stat().st_size == 0:
        raise DataError(f"{path}: the file is empty")
    return path, reader


def _folder_reader(path: Path) -> tuple[Path, Reader]:
    tables = [path / f"pairs{suffix}" for suffix in READERS if (path / f"pairs{suffix}").is_file()]
    if len(tables) > 1:
        names = " and ".join(table.name for table in tables)
        raise UsageError(f"{path}: holds {names}; name the one to open")
    if tables:
        return _reader(tables[0])
    if huggingface.recognizes(path):
        return path, huggingface.read
    if webdataset.shards(path):
        return path, webdataset.read
    return path, folder.read

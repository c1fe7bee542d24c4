"""Files that are whole or not there: write beside, flush to disk, rename; and locks between processes."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import orjson

from trope.errors import UsageError


def _flush_folder(folder: Path) -> None:
    """Make a rename inside `folder` survive a power cut."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def replacing(path: Path, mode: str = "wb") -> Iterator[IO[Any]]:
    """A file that takes the place of `path` only when the block ends without an error."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")
    encoding = None if "b" in mode else "utf-8"
    try:
        with partial.open(mode, encoding=encoding) as handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    _flush_folder(path.parent)


def write_json(path: Path, document: object) -> None:
    """Write one JSON document, indented, whole or not at all."""
    with replacing(path) as handle:
        handle.write(orjson.dumps(document, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE))


@contextmanager
def replacing_folder(path: Path) -> Iterator[Path]:
    """A folder that appears under the name `path` only when the block ends without an error.

    The partial folder keeps its name between attempts, so that a job killed half-way finds what it
    had already placed there. A `path` that exists and is not empty is refused before any work.
    """
    refuse_existing(path)
    partial = path.with_name(f".{path.name}.partial")
    partial.mkdir(parents=True, exist_ok=True)
    with locked(partial):
        refuse_existing(path)
        yield partial
        if path.exists():
            path.rmdir()
        partial.rename(path)
        _flush_folder(path.parent)


def refuse_existing(path: Path) -> None:
    """Never write over what a user already has."""
    if path.is_file():
        raise UsageError(f"{path}: is a file; name a new folder")
    if path.is_dir() and any(path.iterdir()):
        raise UsageError(f"{path}: exists and is not empty; name a new folder or remove it")


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold a folder for this process alone; a second one waits. The kernel frees it on any death."""
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def place(source: Path, target: Path) -> None:
    """Put a file's content under another name: a hard link where the disk allows it, else a copy."""
    target.parent.mkdir(parents=True, exist_ok=True)
    if target.exists():
        return
    try:
        os.link(source.resolve(), target)
    except OSError:
        partial = target.with_name(f".{target.name}.partial")
        shutil.copyfile(source, partial)
        partial.replace(target)

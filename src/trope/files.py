"""Files that are whole or not there: write beside, flush, rename."""

from __future__ import annotations

import errno
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

import numpy as np
import orjson

from trope.errors import DISK, UsageError, told
from trope.locks import locked

__all__ = [
    "locked",
    "partial_of",
    "place",
    "placed",
    "refuse_existing",
    "refuse_unwritable",
    "replacing",
    "replacing_folder",
    "write_array",
    "write_json",
]

JSON = orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE | orjson.OPT_SERIALIZE_NUMPY


@contextmanager
def replacing(path: Path, mode: str = "wb") -> Iterator[IO[Any]]:
    """A file that takes the place of `path` only when the block ends without an error."""
    with told(path):
        path = path.resolve() if path.is_symlink() else path
        partial = path.with_name(f".{path.name[:40]}.{token_hex(8)}.partial")
        handle = _created(path, partial, mode)
    try:
        with told(path, DISK), handle:
            yield handle
            handle.flush()
            os.fsync(handle.fileno())
        with told(path):
            partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)
    _flush_folder(path.parent)


def write_json(path: Path, document: object) -> None:
    """Write one JSON document, indented, whole or not at all."""
    with replacing(path) as handle:
        handle.write(orjson.dumps(document, option=JSON))


def write_array(file: IO[bytes], values: np.ndarray) -> None:
    """An array as `numpy.save` writes it, by the file's own `write`.

    Given a file, numpy writes past it: of a full disk it then says nothing that names the reason,
    or nothing at all, where only the last bytes are lost.
    """
    np.save(_Written(file.write), values, allow_pickle=False)


class _Written:
    """What numpy does not take for a file."""

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self.write = write


@contextmanager
def replacing_folder(path: Path, *, fresh: bool = False) -> Iterator[Path]:
    """A folder that appears under the name `path` only when the block ends without an error.

    A `path` that exists and is not empty is refused before any work. The partial folder keeps its
    name between attempts, so that a job killed half-way finds what it had already placed there;
    with `fresh` it starts empty and a failure leaves nothing, so that no file of another source
    can slip in.
    """
    path = path.absolute()
    refuse_existing(path)
    partial = partial_of(path)
    with locked(partial, path):
        try:
            refuse_existing(path)  # another process may have finished while this one waited
            if fresh:
                _clear(partial)
            with told(path, DISK):
                yield partial
            with told(path):
                partial.rename(path)  # POSIX: over an empty folder too, in one step
        except BaseException:
            _discard(partial, keep=not fresh)
            raise
    _flush_folder(path.parent)


def partial_of(path: Path) -> Path:
    """Where a folder is until it appears under its own name."""
    return path.absolute().with_name(f".{path.absolute().name}.partial")


def refuse_existing(path: Path) -> None:
    """Never write over what a user already has."""
    with told(path):
        if path.is_symlink() or (path.exists() and not path.is_dir()):
            kind = "link" if path.is_symlink() else "file"
            raise UsageError(f"{path}: is a {kind}; name a new folder")
        if path.is_dir() and any(path.iterdir()):
            raise UsageError(f"{path}: exists and is not empty; name a new folder or remove it")
        if Path.cwd().is_relative_to(path.resolve()):
            raise UsageError(f"{path}: is the folder you are in; name a new one")


def refuse_unwritable(path: Path) -> None:
    """Say at once that nothing can be put at `path`, not after hours of work; leaves no trace."""
    there = next(folder for folder in path.absolute().parents if folder.exists())
    with told(path):
        probe = there / f".{token_hex(8)}.partial"
        probe.mkdir()
        probe.rmdir()


def place(source: Path, target: Path) -> None:
    """Put a file's content under another name: a hard link where possible, else a copy.

    A target that exists stays as it is; `placed` tells whether it is this file.
    """
    if target.exists():
        return
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        os.link(source.resolve(), target)
    except OSError:
        _copy(source, target)


def placed(source: Path, target: Path) -> bool:
    """Whether `target` is a link to `source`, or a copy of it that is still up to date."""
    if not target.is_file():
        return False
    ours, theirs = target.stat(), source.stat()
    dates = [(status.st_size, status.st_mtime_ns) for status in (ours, theirs)]
    return os.path.samestat(ours, theirs) or dates[0] == dates[1]


def _created(path: Path, partial: Path, mode: str) -> IO[Any]:
    """The file to write, with the permissions of the one it replaces or those of any new file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    handle = partial.open(mode, encoding=None if "b" in mode else "utf-8")
    if path.exists():
        with suppress(OSError):  # some disks know no permissions
            os.fchmod(handle.fileno(), path.stat().st_mode & 0o777)
    return handle


def _copy(source: Path, target: Path) -> None:
    """Copy content and date: the date tells later that the copy is still up to date."""
    with source.open("rb") as content, replacing(target) as handle:
        status = os.fstat(content.fileno())
        shutil.copyfileobj(content, handle, 2**20)
        handle.flush()  # a later write would change the date again
        with suppress(OSError):  # some disks let nobody set a date
            os.utime(handle.fileno(), ns=(status.st_atime_ns, status.st_mtime_ns))


def _clear(folder: Path) -> None:
    for entry in folder.iterdir():
        if entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()


def _discard(partial: Path, keep: bool) -> None:
    """Take away what a failed attempt left; an empty folder is of no use to a later one either."""
    with suppress(OSError):
        partial.rmdir()
    if not keep:
        shutil.rmtree(partial, ignore_errors=True)


def _flush_folder(folder: Path) -> None:
    """Make a rename inside `folder` survive a power cut, where the disk can promise that."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):
            os.fsync(handle)
    finally:
        os.close(handle)

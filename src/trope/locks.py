"""Locks between processes, of one machine or of several: a file that only one of them holds.

The file is `.lock` inside the folder, and stays there. A folder that is moved or taken away while
it is held has it beside itself, and it goes with the lock. The lock is the kernel's, on a regular
file that is open for writing: a disk of another machine passes such a lock on, where one on a
folder would hold for this machine alone.
"""

from __future__ import annotations

import errno
import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from trope.errors import UsageError, told

NAME = ".lock"
VANISHED = 1_000  # times that a folder may be gone at once after it was made
GONE = frozenset([errno.ENOENT, errno.ESTALE])  # taken away while we waited, here or elsewhere


@contextmanager
def locked(
    folder: Path, named: Path | None = None, *, beside: bool = False, busy: str = ""
) -> Iterator[None]:
    """Hold a folder for this process alone; a second one waits, and any death frees it.

    `named` is what it is called where it cannot be made. With `busy`, which says what is going on
    there, a second one does not wait but is refused. With `beside` the folder may be moved or
    taken away meanwhile; one whose name begins with a dot, as those of work in progress do, always.
    """
    whole = folder.resolve()
    beside = beside or whole.name.startswith(".")
    path = whole.parent / f".{whole.name.lstrip('.')}{NAME}" if beside else whole / NAME
    handle = _held(path, named or folder, busy)
    try:
        with told(named or folder):
            whole.mkdir(exist_ok=True)
        yield
    finally:
        if beside:
            with suppress(OSError):
                path.unlink()  # whoever waits for it finds that it is gone
        os.close(handle)


def _held(path: Path, named: Path, busy: str) -> int:
    """A handle on the file that bears this name once the lock is ours: it may have been moved."""
    while True:
        with told(named):
            handle = _opened(path)
            try:
                if _ours(handle, path, fcntl.LOCK_NB if busy else 0):
                    return handle
            except BlockingIOError:
                os.close(handle)
                raise UsageError(f"{named}: {busy}") from None
            except BaseException:
                os.close(handle)
                raise
            os.close(handle)


def _ours(handle: int, path: Path, how: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | how)
        return os.path.samestat(os.fstat(handle), path.stat())
    except OSError as error:
        if error.errno not in GONE:
            raise
        return False


def _opened(path: Path) -> int:
    """The file, made if need be; whoever may write into its folder may hold it."""
    handle = _created(path)
    with suppress(OSError):  # it is another user's, or the disk knows no permissions
        os.fchmod(handle, path.parent.stat().st_mode & 0o666)
    return handle


def _created(path: Path) -> int:
    vanished = 0
    while True:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o666)
        except (FileExistsError, FileNotFoundError):
            vanished += 1  # by others it is moved or taken away now and then, not every time
            if vanished == VANISHED or path.parent.is_file():
                raise

"""Rows that somebody wants to keep or has flagged: a line of JSON for each decision.

What holds is never lost; what was decided otherwise later is left out when the file grows large.
"""

from __future__ import annotations

import csv
import errno
import io
import logging
import os
import shutil
import threading
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

import orjson

from trope.errors import DataError, TropeError, UsageError
from trope.files import refuse_unwritable, replacing
from trope.web.answers import Verdict
from trope.web.refusals import UnsavedError

LONGEST = 2_000  # characters of a note
MOST = 64 * 2**20  # bytes of the file, if what holds takes less than half of them
LOG = logging.getLogger("trope.web")
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets run


@dataclass(frozen=True)
class Mark:
    """A decision about an item; without a verdict an earlier one is taken back."""

    key: str
    verdict: Verdict | None
    note: str
    date: str


class _Seen(NamedTuple):
    """What tells a file from the one that was read."""

    inode: int
    size: int
    changed: int


class Marks:
    """The last decision about each item, and the file of all of them.

    Another server may write to the file: it is read again once it is not the one that was read.
    """

    def __init__(self, path: Path) -> None:
        self.path, self._lock = path, threading.Lock()
        self._seen = _seen(path)
        self._known, self._most = _read(path), MOST

    def __len__(self) -> int:
        return len(self._now())

    def get(self, key: str) -> Verdict | None:
        """What was decided about an item."""
        found = self._now().get(key)
        return found.verdict if found else None

    def all(self) -> tuple[Mark, ...]:
        """What holds now, in the order in which it was decided."""
        return tuple(self._now().values())

    def put(self, key: str, verdict: Verdict | None, note: str = "") -> Mark:
        """Decide about an item; it is on disk when this returns."""
        if len(note) > LONGEST:
            raise DataError(f"marks: a note of at most {LONGEST:,} characters")
        mark = Mark(key, verdict, note, datetime.now(UTC).isoformat(timespec="seconds"))
        with self._lock:
            self._look()
            start, end = self._append(mark)
            known = {one: was for one, was in self._known.items() if one != key}
            self._known = known | {key: mark} if verdict is not None else known
            if start == (self._seen.size if self._seen else 0):  # else another wrote in between
                self._seen = _seen(self.path)
            if end > self._most:
                self._shorten()
        return mark

    def refuse_unwritable(self) -> None:
        """Say at once that nothing could be saved."""
        refuse_unwritable(self.path)
        if self.path.exists() and not (self.path.is_file() and os.access(self.path, os.W_OK)):
            raise UsageError(f"{self.path}: cannot be written")

    def _now(self) -> dict[str, Mark]:
        """What holds; never changed, so that it can be gone through while another decides."""
        if _seen(self.path) != self._seen:
            with self._lock:
                self._look()
        return self._known

    def _look(self) -> None:
        """Read the file if it is another one; what cannot be read leaves what is known."""
        if (seen := _seen(self.path)) == self._seen:
            return
        try:
            self._known = _read(self.path)
        except DataError as error:
            LOG.warning("marks: %s", error)
        self._seen = seen

    def _append(self, mark: Mark) -> tuple[int, int]:
        try:
            return _append(self.path, mark)
        except OSError as error:
            LOG.error("marks: %s: %s", self.path, error.strerror or error)
            full = error.errno == errno.ENOSPC
            why = "the disk is full" if full else "the server cannot write where marks are kept"
            raise UnsavedError(f"the mark is not saved: {why}") from None

    def _shorten(self) -> None:
        """Leave out what does not hold any more; all is on disk, so that it may fail."""
        try:
            self._most = max(MOST, 2 * _rewrite(self.path))
        except (TropeError, OSError) as error:
            LOG.warning("marks: %s", error)

    def jsonl(self) -> bytes:
        """What holds now, a line each."""
        return b"".join(_line(mark) for mark in self.all())

    def csv(self) -> str:
        """The same as a table; what a spreadsheet would run begins with a quote."""
        sheet = io.StringIO()
        writer = csv.writer(sheet)
        writer.writerow(["key", "verdict", "note", "date"])
        for mark in self.all():
            writer.writerow([_harmless(value or "") for value in asdict(mark).values()])
        return sheet.getvalue()


def _read(path: Path) -> dict[str, Mark]:
    """The last decision about each item; lines cut off by a crash are left out."""
    known: dict[str, Mark] = {}
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        return known
    except OSError as error:
        raise DataError(f"{path}: {error.strerror or error}") from None
    marks = [_mark(line) for line in lines]
    if marks and not any(marks):
        raise DataError(f"{path}: holds no marks; name another file with --marks")
    for mark in filter(None, marks):
        known.pop(mark.key, None)
        if mark.verdict is not None:
            known[mark.key] = mark
    return known


def _mark(line: bytes) -> Mark | None:
    try:
        mark = Mark(**orjson.loads(line))
    except (ValueError, TypeError):
        return None
    return mark if mark.verdict in ("keep", "flag", None) else None


def _seen(path: Path) -> _Seen | None:
    """What the file is now; None where there is none."""
    try:
        status = path.stat()
    except OSError:
        return None
    return _Seen(status.st_ino, status.st_size, status.st_mtime_ns)


def _append(path: Path, mark: Mark) -> tuple[int, int]:
    """Write a decision down; where in the file it begins and ends."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("ab") as file:
        line = (b"" if _ended(path) else b"\n") + _line(mark)
        file.write(line)
        file.flush()
        os.fsync(file.fileno())
        return file.tell() - len(line), file.tell()


def _rewrite(path: Path) -> int:
    """Keep of a file what holds, read anew as another server may write to it; its new size."""
    with replacing(path) as file:
        shutil.copymode(path, file.name)
        file.writelines(_line(mark) for mark in _read(path).values())
        return int(file.tell())


def _ended(path: Path) -> bool:
    """Whether the last line of a file is whole."""
    with path.open("rb") as file:
        if not file.seek(0, os.SEEK_END):
            return True
        file.seek(-1, os.SEEK_END)
        return file.read(1) == b"\n"


def _line(mark: Mark) -> bytes:
    return orjson.dumps(asdict(mark), option=orjson.OPT_APPEND_NEWLINE)


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(FORMULA) else text

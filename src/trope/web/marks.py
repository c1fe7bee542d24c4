"""Rows that somebody wants to keep or has flagged: a line of JSON for each decision.

What holds is never lost; what was decided otherwise later is left out when the file grows large.
"""

from __future__ import annotations

import csv
import io
import os
import shutil
import threading
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import orjson

from trope.errors import DataError, TropeError
from trope.files import replacing
from trope.web.answers import Verdict

LONGEST = 2_000  # characters of a note
MOST = 64 * 2**20  # bytes of the file, if what holds takes less than half of them
FORMULA = ("=", "+", "-", "@", "\t", "\r")  # what spreadsheets run


@dataclass(frozen=True)
class Mark:
    """A decision about an item; without a verdict an earlier one is taken back."""

    key: str
    verdict: Verdict | None
    note: str
    date: str


class Marks:
    """The last decision about each item, and the file of all of them."""

    def __init__(self, path: Path) -> None:
        self.path, self._lock = path, threading.Lock()
        self._known, self._most = _read(path), MOST

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: str) -> Verdict | None:
        """What was decided about an item."""
        found = self._known.get(key)
        return found.verdict if found else None

    def all(self) -> tuple[Mark, ...]:
        """What holds now, in the order in which it was decided."""
        return tuple(self._known.values())

    def put(self, key: str, verdict: Verdict | None, note: str = "") -> Mark:
        """Decide about an item; it is on disk when this returns."""
        if len(note) > LONGEST:
            raise DataError(f"marks: a note of at most {LONGEST:,} characters")
        mark = Mark(key, verdict, note, datetime.now(UTC).isoformat(timespec="seconds"))
        with self._lock:
            if _append(self.path, mark) > self._most:
                self._most = max(MOST, 2 * _rewrite(self.path))
            self._known.pop(key, None)
            if verdict is not None:
                self._known[key] = mark
        return mark

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


def _append(path: Path, mark: Mark) -> int:
    """Write a decision down; how large the file is with it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab") as file:
            file.write((b"" if _ended(path) else b"\n") + _line(mark))
            file.flush()
            os.fsync(file.fileno())
            return file.tell()
    except OSError as error:
        raise TropeError(f"{path}: cannot be written ({error.strerror or error})") from None


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

"""Finding the files of an official layout, wherever the archives were unpacked."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from trope.errors import DataError, UsageError


def optional(source: Path, *names: str) -> Path | None:
    """The first of these files or folders that is there; a name may hold `*`."""
    for name in names:
        matches = sorted(source.glob(name)) if "*" in name else [source / name]
        if found := next((path for path in matches if path.exists()), None):
            return found
    return None


def required(source: Path, what: str, *names: str) -> Path:
    """The same, or one line that says what was looked for."""
    found = optional(source, *names)
    if found is None:
        raise UsageError(f"{source}: {what} not found; looked for {' or '.join(names)}")
    return found


def folders(source: Path, what: str, *names: str) -> tuple[str, ...]:
    """Those of these folders that are there, as names below the source; at least one must be."""
    there = tuple(name for name in names if (source / name).is_dir())
    if not there:
        raise UsageError(f"{source}: {what} not found; looked for the folder {' or '.join(names)}")
    return there


def below(places: Sequence[str], *names: str) -> tuple[str, ...]:
    """Every name below every place, in order of preference."""
    return tuple(f"{place}/{name}" for place in places for name in names)


def text_lines(path: Path) -> Iterator[str]:
    """The lines of a text file without their ends: UTF-8, and Latin-1 where a line is not UTF-8.

    The older sets mix the two; Latin-1 never fails, so no line is lost.
    """
    try:
        with path.open("rb") as handle:
            for number, raw in enumerate(handle):
                line = raw.removeprefix(b"\xef\xbb\xbf") if number == 0 else raw
                yield _decode(line).rstrip("\r\n")
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None


def _decode(line: bytes) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError:
        return line.decode("latin-1")

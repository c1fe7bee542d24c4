"""The errors a user can cause; the command line prints them as one line."""

from __future__ import annotations

import difflib
import errno
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

DISK = frozenset([errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO])


class TropeError(Exception):
    """A job failed for a reason to act on: one line that names the file, row or setting."""

    exit_code = 1


class UsageError(TropeError):
    """The command, setting or path itself is wrong; nothing was started."""

    exit_code = 2


class DataError(TropeError):
    """The data cannot be used as it is."""


class MissingExtra(UsageError):  # noqa: N818
    """An optional dependency is not installed."""

    def __init__(self, what: str, extra: str, hint: str = "") -> None:
        clone = f"in a clone of the project pip install -e '.[{extra}]'"
        install = f"pip install 'trope[{extra}]', {clone}"
        super().__init__(f"{what} needs the extra '{extra}': {install}{hint}")


def suggestion(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'margin'?`, or the list of what there is when nothing is close."""
    names = sorted(known)
    return did_you_mean(word, names) or (f"; there is {', '.join(names)}" if names else "")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`; did you mean 'margin'?` where something is close."""
    close = difflib.get_close_matches(word, sorted(known), n=1, cutoff=0.6)
    return f"; did you mean '{close[0]}'?" if close else ""


@contextmanager
def told(path: Path, only: frozenset[int] = frozenset()) -> Iterator[None]:
    """What the system refuses as one line that names the path; with `only`, just those errors."""
    try:
        yield
    except OSError as error:
        if only and error.errno not in only:
            raise
        kind = TropeError if error.errno in DISK else UsageError
        raise kind(f"{path}: cannot be written ({error.strerror or error})") from None

"""The folder of an index: `index.json` says which files are its state; they are never changed.

Whoever writes puts new files beside the old ones and then replaces `index.json` in one step. A
process killed before that leaves files that nobody names; the next one that writes takes them away.
Who has opened a state keeps it: files that are mapped stay until nobody uses them.
"""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import IO, Any, TypeVar

import orjson

from trope import config
from trope.errors import DataError, UsageError
from trope.files import locked, replacing, write_json
from trope.index.checksums import checksum, refuse_damaged
from trope.index.details import Kind
from trope.index.settings import IndexSettings

FORMAT = "trope-index-1"
FILE = "index.json"
STRAY = re.compile(r"(image|text|both)-[0-9a-f]{16}\.[a-z]+|\..*\.partial")
TRIES = 100  # times that files may have been replaced while they were opened

T = TypeVar("T")
_held: ContextVar[frozenset[Path]] = ContextVar("held", default=frozenset())


@dataclass(frozen=True)
class File:
    """A file of the folder and what it must hold."""

    name: str
    bytes: int
    crc: str


@dataclass(frozen=True)
class PartState:
    """The items of one modality: how many, how many of them are removed, and their files."""

    items: int = 0
    dead: int = 0
    files: dict[str, File] = field(default_factory=dict)


@dataclass(frozen=True)
class State:
    """All that is fixed at a time; each write makes a new one, with the next number.

    `details` are what is kept of each item besides its vectors. `past` are files of the state
    before, where machines that share the folder may still read them.
    """

    size: int
    senses: int = 1
    details: Kind = ""
    number: int = 0
    settings: IndexSettings = field(default_factory=IndexSettings)
    others: dict[str, File] = field(default_factory=dict)  # the model, and what it has learned from
    sources: tuple[str, ...] = ()  # data sets, as seen from the folder
    parts: dict[str, PartState] = field(default_factory=dict)
    past: dict[str, File] = field(default_factory=dict)
    remote: dict[str, str] = field(default_factory=dict)  # what a server knows it by
    made: dict[str, str] = field(default_factory=dict)

    @cached_property
    def digest(self) -> str:
        """What differs between any two states, of this index or another."""
        return hashlib.blake2b(_written(config.plain(self)), digest_size=8).hexdigest()

    def files(self) -> Iterator[File]:
        """Every file that belongs to the state."""
        yield from self.others.values()
        yield from self.past.values()
        for part in self.parts.values():
            yield from part.files.values()


def read_state(folder: Path) -> State:
    """The state as it is now."""
    path = folder / FILE
    try:
        document: Any = orjson.loads(path.read_bytes())
        if document["format"] != FORMAT:
            raise DataError(f"{path}: not an index of this version ({document['format']})")
        if document["crc"] != _crc(document["state"]):
            raise DataError(f"{path}: damaged (its checksum is not that of its content)")
    except FileNotFoundError:
        raise UsageError(
            f"{folder}: no index (there is no {FILE}); `trope index` makes one"
        ) from None
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror or error}") from None
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"{path}: damaged, or not made by trope ({error})") from None
    return config.parse(State, document["state"], str(path))


def opened(folder: Path, read: Callable[[State], T]) -> tuple[State, T]:
    """A state and what is read of it; files of an older one may be gone before they are opened."""
    for _ in range(TRIES):
        state = read_state(folder)
        try:
            return state, read(state)
        except FileNotFoundError as error:
            if read_state(folder).number == state.number:
                raise DataError(f"{error.filename}: missing; build the index anew") from None
    raise DataError(f"{folder}: changes too often to be opened")


def write_state(folder: Path, state: State) -> None:
    """Switch to a state whose files are all there; then what nobody names any more goes."""
    plain = config.plain(state)
    write_json(folder / FILE, {"format": FORMAT, "crc": _crc(plain), "state": plain})
    sweep(folder, state)


def sweep(folder: Path, state: State) -> None:
    """Take away files of earlier states, and of attempts that did not end. Needs the lock."""
    named = {file.name for file in state.files()}
    for path in folder.iterdir():
        if path.name not in named and STRAY.fullmatch(path.name):
            path.unlink(missing_ok=True)


@contextmanager
def writing(folder: Path) -> Iterator[State]:
    """The state to change, held for this thread alone; a second one waits.

    Who holds it already may ask again, so that what is looked up before a write is still so.
    """
    read_state(folder)  # a lock would make the folder
    whole = folder.resolve()
    with nullcontext() if whole in _held.get() else locked(folder):
        token = _held.set(_held.get() | {whole})
        try:
            state = read_state(folder)
            sweep(folder, state)
            yield state
        except BaseException:
            with suppress(OSError, DataError):  # what went wrong is more to the point
                sweep(folder, read_state(folder))  # a full disk gets its room back at once
            raise
        finally:
            _held.reset(token)


def write_file(folder: Path, stem: str, kind: str, write: Callable[[IO[bytes]], Any]) -> File:
    """A new file, on disk before this returns."""
    path = folder / f"{stem}-{token_hex(8)}.{kind}"
    with replacing(path) as file:
        write(file)
    return named(path)


def named(path: Path) -> File:
    """A file as it is now."""
    return File(path.name, path.stat().st_size, checksum(path))


def verified(folder: Path, file: File, *, again: bool = False) -> Path:
    """Where a file is, compared with its checksum if it was not before."""
    path = folder / file.name
    refuse_damaged(path, file.bytes, file.crc, again=again)
    return path


def _crc(plain: object) -> str:
    return f"{zlib.crc32(_written(plain)):08x}"


def _written(plain: object) -> bytes:
    return orjson.dumps(plain, option=orjson.OPT_SORT_KEYS)

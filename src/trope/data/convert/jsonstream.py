"""Large JSON files element by element: gigabytes of annotations in a few megabytes of memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from trope.errors import DataError

CHUNK = 2**20
NUMBER = "0123456789.eE+-"  # and the empty string, which is the edge itself
MAX_VALUE = 64 * 2**20  # characters; nothing in an annotation file comes near it


def elements(path: Path, key: str | None = None) -> Iterator[Any]:
    """The elements of the list under a top-level `key`, or of the top-level list itself."""
    with _opened(path) as reader:
        if key is None:
            yield from reader.array()
            return
        for name in reader.names():
            if name == key:
                yield from reader.array()
                return
            reader.skip()
    raise DataError(f"{path}: has no list '{key}'")


def members(path: Path) -> Iterator[tuple[str, Any]]:
    """The names and values of the top-level object."""
    with _opened(path) as reader:
        for name in reader.names():
            yield name, reader.value()


def is_object(path: Path) -> bool:
    """Whether the file holds an object at the top, rather than a list."""
    with _opened(path) as reader:
        return reader.peek() == "{"


def _opened(path: Path) -> _Reader:
    try:
        return _Reader(path, path.open(encoding="utf-8-sig"))
    except OSError as error:
        raise DataError(f"{path}: {error.strerror}") from None


class _Reader:
    """A window that moves over the text; a value is decoded once the window holds all of it."""

    def __init__(self, path: Path, handle: IO[str]) -> None:
        self.path, self.handle = path, handle
        self.window, self.position, self.before = "", 0, 0
        self.ended = False
        self.decode = json.JSONDecoder().raw_decode

    def __enter__(self) -> _Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.handle.close()

    def peek(self) -> str:
        """The next character that is not white space; nothing at the end."""
        while True:
            while self.position < len(self.window):
                if not (character := self.window[self.position]).isspace():
                    return character
                self.position += 1
            if not self._more(CHUNK):
                return ""

    def take(self, expected: str) -> None:
        """Step over one expected character."""
        if self.peek() != expected:
            raise self._broken(f"expected '{expected}'")
        self.position += 1

    def value(self) -> Any:
        """Decode one whole value, widening the window until it fits."""
        self.peek()
        step = CHUNK
        while True:
            try:
                value, end = self.decode(self.window, self.position)
                # what looks like a whole number may go on behind the window's edge
                if self.ended or self.window[end : end + 1] not in NUMBER:
                    self.position = end
                    return value
                problem = "a value without end"
            except (ValueError, RecursionError) as error:
                problem = str(error).split(":")[0]
            if self.ended or len(self.window) > MAX_VALUE:
                raise self._broken(problem)
            self._more(step)
            step *= 2

    def array(self) -> Iterator[Any]:
        """The elements of a list."""
        self.take("[")
        while self.peek() != "]":
            yield self.value()
            if self.peek() != "]":
                self.take(",")
        self.take("]")

    def names(self) -> Iterator[str]:
        """The names in an object; the caller takes or skips each value before the next."""
        self.take("{")
        while self.peek() != "}":
            name = self.value()
            self.take(":")
            yield str(name)
            if self.peek() != "}":
                self.take(",")
        self.take("}")

    def skip(self) -> None:
        """Step over a value; long lists and objects are passed piece by piece."""
        if self.peek() == "[":
            for _ in self.array():
                pass
        elif self.peek() == "{":
            for _ in self.names():
                self.value()
        else:
            self.value()

    def _more(self, size: int) -> bool:
        """Widen the window; what lies before the position is let go."""
        try:
            text = self.handle.read(size)
        except UnicodeDecodeError as error:
            raise DataError(f"{self.path}: not UTF-8 text ({error.reason})") from None
        self.ended = not text
        self.before += self.position
        self.window, self.position = self.window[self.position :] + text, 0
        return bool(text)

    def _broken(self, problem: str) -> DataError:
        place = self.before + self.position
        return DataError(f"{self.path}: not valid JSON at character {place + 1} ({problem})")

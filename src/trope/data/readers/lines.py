"""The lines of a text file in blocks, each with its number; what is no text at all is refused."""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from pathlib import Path

from trope.errors import DataError

BLOCK = 2**20
MAX_LINE = 64 * 2**20
LOOK = 4096  # bytes by which binary content is told from text


def blocks(path: Path) -> Iterator[tuple[int, list[bytes]]]:
    """Whole lines, about a megabyte at a time, with the number of the first."""
    number, rest = 1, b""
    with path.open("rb") as handle:
        block = _start(path, handle.read(BLOCK))
        while block:
            *lines, rest = (rest + block).split(b"\n")
            if len(rest) > MAX_LINE:
                where = f"{path}:{number + len(lines)}"
                raise DataError(f"{where}: a line of over {MAX_LINE >> 20} MiB")
            if lines:
                yield number, lines
            number += len(lines)
            block = handle.read(BLOCK)
    yield number, [rest]


def not_utf8(text: str) -> str:
    """What is wrong with a text whose bytes were kept as lone surrogates, and what to do."""
    odd = sum("\udc80" <= letter <= "\udcff" for letter in text)
    western = odd < len(text) / 2 and len(text) - odd == len(text.encode("ascii", "ignore"))
    try:
        text.encode("utf-8", "surrogateescape").decode("cp1252")
    except UnicodeDecodeError:
        western = False
    return f"not UTF-8 text; {'looks like Windows-1252: ' if western else ''}save it as UTF-8"


def _start(path: Path, block: bytes) -> bytes:
    """The first block without its byte order mark."""
    if block.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise DataError(f"{path}: UTF-16 text; save it as UTF-8")
    if b"\x00" in block[:LOOK] and not _is_text(block[:LOOK]):
        raise DataError(f"{path}: binary content, not lines of text")
    return block.removeprefix(codecs.BOM_UTF8)


def _is_text(block: bytes) -> bool:
    """Whether bytes are UTF-8, but for a letter that may be cut off at the end."""
    try:
        block.decode("utf-8")
    except UnicodeDecodeError as error:
        return len(block) == LOOK and error.start > LOOK - 4
    return True

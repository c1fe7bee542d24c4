"""JSON lines: one object per line, read in blocks, every unreadable line named."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import orjson

from trope.data.readers.opened import Opened
from trope.data.readers.rows import Columns, Row
from trope.data.rejects import Rejects
from trope.data.stores import FolderImages
from trope.errors import DataError

BLOCK = 8 * 2**20
MAX_LINE = 64 * 2**20


def read(path: Path, rejects: Rejects) -> Opened:
    """Read a JSONL file into columns; memory holds the columns and one block of rows."""
    columns = Columns(rejects)
    for start, lines in _blocks(path):
        columns.add(_parse(start, lines, rejects))
    table, numbers = columns.table()
    return Opened(table, numbers, FolderImages(path.parent, table.column("image")))


def _blocks(path: Path) -> Iterator[tuple[int, list[bytes]]]:
    """Whole lines, some megabytes at a time, with the number of the first."""
    number, rest = 1, b""
    with path.open("rb") as handle:
        while block := handle.read(BLOCK):
            if number == 1 and not rest:
                block = _refuse_binary(path, block)
            *lines, rest = (rest + block).split(b"\n")
            if len(rest) > MAX_LINE:
                raise DataError(f"{path}:{number + len(lines)}: a line of over {MAX_LINE >> 20} MiB")
            yield number, lines
            number += len(lines)
    if rest.strip():
        yield number, [rest]


def _refuse_binary(path: Path, block: bytes) -> bytes:
    if b"\x00" in block[:4096]:
        raise DataError(f"{path}: binary content, not JSON lines")
    return block.removeprefix(b"\xef\xbb\xbf")


def _parse(start: int, lines: list[bytes], rejects: Rejects) -> list[tuple[int, Row]]:
    """The rows of a block with their line numbers: all at once, or line by line to find the bad one."""
    numbered = [(start + i, line) for i, raw in enumerate(lines) if (line := raw.strip())]
    whole = all(line[:1] == b"{" and line[-1:] == b"}" for _, line in numbered)
    try:
        rows = orjson.loads(b"[" + b",".join(line for _, line in numbered) + b"]")
    except orjson.JSONDecodeError:
        rows = []
    if whole and len(rows) == len(numbered):
        return [(number, row) for (number, _), row in zip(numbered, rows, strict=True)]
    parsed = ((number, _parse_line(number, line, rejects)) for number, line in numbered)
    return [(number, row) for number, row in parsed if row is not None]


def _parse_line(number: int, line: bytes, rejects: Rejects) -> Row | None:
    try:
        row = json.loads(line.decode("utf-8"))  # unlike orjson it admits NaN, which pandas writes
        orjson.dumps(row)  # and this refuses lone surrogates, which no file can hold
    except UnicodeDecodeError as error:
        rejects.add(number, f"not UTF-8 text ({error.reason} at byte {error.start + 1})", line)
    except (ValueError, TypeError, RecursionError) as error:
        rejects.add(number, f"not valid JSON ({_short(error)})", line)
    else:
        if isinstance(row, dict):
            return row
        rejects.add(number, f"expected an object {{…}}, found {type(row).__name__}", line)
    return None


def _short(error: Exception) -> str:
    return str(error).split(": line 1")[0]

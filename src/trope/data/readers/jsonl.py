"""JSON lines: one object per line, read in blocks, every unreadable line named."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from trope.data import naming
from trope.data.documents import dumps
from trope.data.readers.lines import blocks, not_utf8
from trope.data.readers.opened import Opened
from trope.data.readers.rows import Columns, Row, undisturbed
from trope.data.rejects import Rejects
from trope.data.stores import FolderImages

LONG_NUMBER = re.compile(rb"[0-9]{20}|-[0-9]{19}")
STRIDE = 4  # nineteen digits in a row are met at least four times


def read(path: Path, rejects: Rejects, mapping: naming.Columns) -> Opened:
    """Read a JSONL file into columns; memory holds the columns and one block of rows."""
    columns = Columns(rejects, mapping)
    with undisturbed():
        for start, lines in blocks(path):
            columns.add(*_parse(start, lines, rejects))
    table, numbers = columns.table()
    return Opened(table, numbers, FolderImages(path.parent, table.column("image")))


def _parse(
    start: int, lines: list[bytes], rejects: Rejects
) -> tuple[list[int], list[Row], list[bytes]]:
    """Line numbers, rows and raw lines of a block; slowly, line by line, only where one is odd."""
    numbers = list(range(start, start + len(lines)))
    if not _has_long_number(b"\n".join(lines)):
        try:
            rows = list(map(orjson.loads, lines))
            if {dict}.issuperset(map(type, rows)):
                return numbers, rows, lines
        except orjson.JSONDecodeError:
            pass  # a blank line, a broken one, or a value only the standard parser admits
    parsed = (
        (number, _parse_line(number, line, rejects), line)
        for number, line in zip(numbers, lines, strict=True)
        if line.strip()
    )
    kept = [(number, row, line) for number, row, line in parsed if row is not None]
    return [k[0] for k in kept], [k[1] for k in kept], [k[2] for k in kept]


def _has_long_number(block: bytes) -> bool:
    """Whether there may be a whole number beyond 64 bits; every fourth byte decides mostly."""
    digits = np.frombuffer(block, np.uint8)[::STRIDE] - ord("0") < 10
    runs = digits[:-3] & digits[1:-2] & digits[2:-1] & digits[3:]
    return bool(runs.any()) and LONG_NUMBER.search(block) is not None


def _parse_line(number: int, line: bytes, rejects: Rejects) -> Row | None:
    try:
        row = _value(line)
        if isinstance(row, dict):
            return row
        reason = f"expected an object {{…}}, found {type(row).__name__}"
    except UnicodeDecodeError as error:
        text = line.decode("utf-8", "surrogateescape")
        reason = f"{not_utf8(text)} ({error.reason} at byte {error.start + 1})"
    except UnicodeEncodeError:
        reason = "not valid text (half of a surrogate pair)"
    except (ValueError, RecursionError) as error:
        reason = f"not valid JSON ({_short(error)})"
    rejects.add(number, reason, line.removesuffix(b"\r"))
    return None


def _value(line: bytes) -> Any:
    """What a line says; what the fast parser would round or refuse goes to the standard one."""
    if not LONG_NUMBER.search(line):
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(line)
    value = json.loads(line.decode("utf-8"))
    dumps(value)  # refuses half a surrogate pair and bottomless nesting
    return value


def _short(error: Exception) -> str:
    """The parser's words without the line number, which counts from the start of this line."""
    return str(error).replace(": line 1 column", " at column").split(" (char")[0]

"""The records of a CSV file, each with its line: a quote left open costs one line, not the rest."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from trope.data.readers.lines import blocks

MAX_CELL = 16 * 2**20
DELIMITERS = ",;\t|"
TOLD = re.compile(r'"?sep=([,;\t|])"?\r?', re.I)  # Excel's first line


@dataclass
class Block:
    """Some records: the line each starts on, what it says, its cells; and those that are broken."""

    lines: list[int] = field(default_factory=list)
    raws: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    broken: list[tuple[int, str, str]] = field(default_factory=list)  # line, reason, raw


def records(path: Path) -> Iterator[Block]:
    """All records, the header among them; bytes that are no UTF-8 become lone surrogates."""
    start, rest, delimiter = 1, list[str](), ""
    for number, raw in blocks(path):
        lines = rest + b"\n".join(raw).decode("utf-8", "surrogateescape").split("\n")
        if number == 1 and (told := TOLD.fullmatch(lines[0])):
            delimiter, start, lines = told[1], 2, lines[1:]
        if not lines:
            continue
        delimiter = delimiter or _delimiter(path, lines[0])
        block, used = _parse(start, lines, delimiter)
        yield block
        start, rest = start + used, lines[used:]
    yield _carefully(start, rest, delimiter, last=True)[0]


@contextmanager
def long_cells() -> Iterator[None]:
    """Cells of up to 16 MiB; the parser's limit belongs to the whole process, so it is put back."""
    limit = csv.field_size_limit(MAX_CELL)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _delimiter(path: Path, header: str) -> str:
    return "\t" if path.suffix.lower() == ".tsv" else max(DELIMITERS, key=header.count)


def _parse(start: int, lines: list[str], delimiter: str) -> tuple[Block, int]:
    """The records of these lines and how many lines they used: at once if each is a record."""
    try:
        rows = list(csv.reader(lines, delimiter=delimiter, strict=True))
    except csv.Error:
        rows = []
    if len(rows) == len(lines):
        return Block(list(range(start, start + len(lines))), lines, rows), len(lines)
    return _carefully(start, lines, delimiter)


def _carefully(
    start: int, lines: list[str], delimiter: str, last: bool = False
) -> tuple[Block, int]:
    """The same record by record; one still open at the end waits for more lines, if any come."""
    block, used = Block(), 0
    while used < len(lines):
        base = used
        reader = csv.reader(
            (f"{line}\n" for line in lines[base:]), delimiter=delimiter, strict=True
        )
        try:
            for row in reader:
                block.lines.append(start + used)
                block.raws.append("\n".join(lines[used : base + reader.line_num]))
                block.rows.append(row)
                used = base + reader.line_num
        except csv.Error as error:
            if base + reader.line_num == len(lines) and not last:
                break
            block.broken.append((start + used, f"not valid CSV ({error})", lines[used]))
            used += 1  # the lines it had swallowed are read again
    return block, used

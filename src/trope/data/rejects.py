"""Rows that could not be read: refused at once, or collected so that none vanishes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from trope.errors import DataError

Unit: TypeAlias = Literal["line", "row"]  # what the numbers of rows count


@dataclass(frozen=True)
class Rejected:
    """One row that could not be read: where it stood, why, and all it said."""

    line: int
    reason: str
    raw: str


@dataclass
class Rejects:
    """Takes unreadable rows: raises on the first one, or keeps them all when `collect` is set."""

    origin: str
    collect: bool = False
    unit: Unit = "line"
    rows: list[Rejected] = field(default_factory=list)

    def add(self, line: int, reason: str, raw: bytes | str = "") -> None:
        """Record an unreadable row, or refuse the whole file in one line that names the row."""
        if not self.collect:
            advice = "`trope check` lists every such row, `--fix` sets them aside"
            where = f":{line}" if self.unit == "line" else f": row {line}"
            raise DataError(f"{self.origin}{where}: {reason} ({advice})")
        data = raw if isinstance(raw, bytes) else raw.encode("utf-8", "surrogateescape")
        self.rows.append(Rejected(line, reason, data.decode("utf-8", "backslashreplace")))

"""Rows that could not be read: refused at once, or collected with a reason so that none vanishes."""

from __future__ import annotations

from dataclasses import dataclass, field

from trope.errors import DataError

RAW_LIMIT = 2_000


@dataclass(frozen=True)
class Rejected:
    """One row that could not be read, where it stood, why, and what it said (cut to a sane length)."""

    line: int
    reason: str
    raw: str


@dataclass
class Rejects:
    """Takes unreadable rows: raises on the first one, or keeps them all when `collect` is set."""

    origin: str
    collect: bool = False
    rows: list[Rejected] = field(default_factory=list)

    def add(self, line: int, reason: str, raw: bytes | str = "") -> None:
        """Record an unreadable row, or refuse the whole file in one line that names the row."""
        if not self.collect:
            raise DataError(
                f"{self.origin}:{line}: {reason} (`trope check` lists every such row, `--fix` sets them aside)"
            )
        text = raw.decode("utf-8", "backslashreplace") if isinstance(raw, bytes) else raw
        self.rows.append(Rejected(line, reason, text[:RAW_LIMIT]))

"""Tables of results: the same cells for a page and for a terminal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """Named columns, and rows whose cells are texts already."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """The table for a page; all columns but the first stand flush right."""
        rule = ["---", *["---:"] * (len(self.columns) - 1)]
        lines = [_line(row) for row in (self.columns, rule, *self.rows)]
        return f"**{self.title}**\n\n" + "\n".join(lines) + "\n"


def interval(value: float, low: float, high: float, form: str = ".3f") -> str:
    """An estimate with its interval in one cell; a dash where there is none."""
    if math.isnan(value):
        return "–"
    return f"{value:{form}} ({low:{form}}–{high:{form}})"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"

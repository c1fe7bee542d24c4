"""Numbers in sentences."""

from __future__ import annotations


def counted(number: int, one: str, several: str = "") -> str:
    """`1 row`, `2,000 rows`; `several` where an s is not enough: `1 row is`, `2 rows are`."""
    return f"{number:,} {one if number == 1 else several or f'{one}s'}"

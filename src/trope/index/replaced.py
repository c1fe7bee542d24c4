"""Which items of an index go when rows come: those of the same id, unless it only says a line."""

from __future__ import annotations

import re
from collections.abc import Sequence

from trope.data.known import LINE
from trope.data.pairs import Pairs
from trope.errors import UsageError
from trope.index.engine import Engine
from trope.index.filters.tree import In
from trope.index.items import SOURCE, row_of

ASKED = 10_000  # ids in one question


def of_rows(engine: Engine, rows: Sequence[str]) -> list[str]:
    """The items of rows that are in an index."""
    if "id" not in engine.schema.names:
        return []
    found: list[str] = []
    for start in range(0, len(rows), ASKED):
        found += engine.find(In("id", tuple(rows[start : start + ASKED])))
    return found


def refuse_unnamed(engine: Engine, pairs: Pairs, sources: Sequence[str], source: str) -> None:
    """Rows without ids are named by their lines: so are the rows of another file, that are others.

    Lines of the same data set may have changed, and are replaced.
    """
    unnamed = [name for name in pairs.ids if re.match(LINE, name)]
    keys = of_rows(engine, unnamed)
    for start in range(0, len(keys), ASKED):
        some = keys[start : start + ASKED]
        for key, number in zip(some, engine.get(some).rows.column(SOURCE).to_pylist(), strict=True):
            if sources[number] != source:
                raise UsageError(
                    f"{pairs.source}: its rows have no ids of their own, and '{row_of(key)}' would "
                    f"replace a row of {sources[number]}; give it a column id"
                )

"""Writing a data set: `pairs.jsonl`, whole or not at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from trope.data.documents import json_line
from trope.files import replacing
from trope.types import Pair


def as_row(pair: Pair) -> dict[str, Any]:
    """A pair as it stands in a JSONL file: gaps left out, a single text under `text`."""
    alone = len(pair.texts) == 1 and pair.texts[0] != ""  # an empty `text` would read as a gap
    texts = {"text": pair.texts[0]} if alone else {"texts": list(pair.texts)}
    row: dict[str, Any] = {"id": pair.id, "image": pair.image}
    row |= texts if pair.texts else {}
    row |= {"labels": list(pair.labels)} if pair.labels else {}
    row |= {"group": pair.group, "split": pair.split, **pair.extra}
    return {name: value for name, value in row.items() if value is not None}


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> int:
    """Write rows as JSON lines; returns how many."""
    count = 0
    with replacing(path) as handle:
        for row in rows:
            handle.write(json_line(row))
            count += 1
    return count


def write_pairs(folder: Path, pairs: Iterable[Pair]) -> int:
    """Write `folder/pairs.jsonl`; returns the number of rows."""
    return write_rows(folder / "pairs.jsonl", map(as_row, pairs))

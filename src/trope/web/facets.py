"""Columns and labels worth filtering by, with how many rows have each value."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trope.data.schema import JSON_MARK
from trope.index import Engine
from trope.index.filters.kinds import entries, numeric
from trope.index.filters.tree import OWN
from trope.index.items import MODALITIES, joined
from trope.index.local import Local
from trope.web.dates import dated
from trope.web.drawing import drawn

SHOWN = 60  # values of a column
SAMPLE = 20_000  # items that are fetched from a server
ITSELF = frozenset(["id", "image", "text"])
OWN_EACH = frozenset(["image", "text"])  # what differs between the items of a row


@dataclass(frozen=True)
class FacetValue:
    """A value and how many rows have it."""

    value: str
    count: int


@dataclass(frozen=True)
class Facet:
    """A column to filter by: its most frequent values, or the range of its numbers or dates.

    Text that says a date in every row, as JSON and CSV have them, is dates.
    """

    column: str
    kind: Literal["choice", "labels", "flag", "number", "date"]
    values: tuple[FacetValue, ...] = ()
    distinct: int = 0
    low: str | None = None
    high: str | None = None
    missing: int = 0


@dataclass(frozen=True)
class Facets:
    """All of an index; of one on a server they are those of a sample of rows."""

    columns: tuple[Facet, ...]
    rows: int
    sampled: bool = False


def facets(engine: Engine) -> Facets:
    """What the rows of an index can be told apart by."""
    rows, sampled = _rows(engine)
    known = [_facet(rows, field) for field in rows.schema if _plain(field)]
    return Facets(tuple(facet for facet in known if facet is not None), rows.num_rows, sampled)


def _rows(engine: Engine) -> tuple[pa.Table, bool]:
    """A line for each row of the data, without its texts."""
    if isinstance(engine, Local):
        parts = list(engine.parts.values())
        tables = [_alive(part.rows, part.dead) for part in parts]
        return _once(tables), False
    keys = drawn(engine, SAMPLE)
    return _once([engine.get(keys).rows]), sum(map(engine.count, MODALITIES)) > SAMPLE


def _alive(rows: pa.Table, dead: np.ndarray | None) -> pa.Table:
    return rows if dead is None else rows.filter(pa.array(~dead))


def _once(tables: list[pa.Table]) -> pa.Table:
    """Each row once, though its picture and its texts are items of their own."""
    if not tables:
        return pa.table({"id": pa.array([], pa.string())})
    lean = joined(_lean(table) for table in tables)
    names = lean.column("id").dictionary_encode().combine_chunks()
    numbers = np.asarray(names.indices)
    first = np.unique(numbers, return_index=True)[1]
    return lean.take(pa.array(np.sort(first)))


def _lean(table: pa.Table) -> pa.Table:
    return table.select([name for name in table.column_names if name not in OWN_EACH])


def _plain(field: pa.Field) -> bool:
    hidden = field.name.startswith(OWN) or field.name in ITSELF
    return not hidden and field.metadata != JSON_MARK


def _facet(rows: pa.Table, field: pa.Field) -> Facet | None:
    column, kind = rows.column(field.name), field.type
    missing = int(column.null_count)
    if entries(kind) is not None:
        if not pa.types.is_string(entries(kind)):
            return None
        return _counted(field.name, "labels", pc.list_flatten(column), 0, rows.num_rows)
    if pa.types.is_boolean(kind):
        return _counted(field.name, "flag", column.cast(pa.string()), missing, rows.num_rows)
    if numeric(kind) or pa.types.is_temporal(kind):
        return _ranged(field.name, column, missing, "number" if numeric(kind) else "date")
    if pa.types.is_string(kind):
        if (dates := dated(column)) is not None:
            return _ranged(field.name, dates, rows.num_rows - len(dates), "date")
        return _counted(field.name, "choice", column, missing, rows.num_rows)
    return None


def _counted(
    name: str,
    kind: Literal["choice", "labels", "flag"],
    column: pa.ChunkedArray,
    missing: int,
    rows: int,
) -> Facet | None:
    """The most frequent values; None where there is one alone, or nearly one for each row."""
    counts = pc.value_counts(column.drop_null())
    if len(counts) < 2 and not (len(counts) == 1 and missing):
        return None
    if len(counts) > SHOWN and 2 * len(counts) > rows:
        return None
    pairs = sorted(_pairs(counts), key=lambda pair: (-pair[1], pair[0]))
    values = tuple(FacetValue(value, count) for value, count in pairs[:SHOWN])
    return Facet(name, kind, values, len(pairs), missing=missing)


def _pairs(counts: pa.StructArray) -> Iterator[tuple[str, int]]:
    values, numbers = counts.field("values").to_pylist(), counts.field("counts").to_pylist()
    return zip(values, numbers, strict=True)


def _ranged(
    name: str, column: pa.ChunkedArray, missing: int, kind: Literal["number", "date"]
) -> Facet | None:
    if pa.types.is_floating(column.type):
        column = column.filter(pc.is_finite(column))
    ends = pc.min_max(column)
    low, high = ends["min"].as_py(), ends["max"].as_py()
    if low is None or low == high:
        return None
    distinct = int(pc.count_distinct(column).as_py())
    return Facet(name, kind, (), distinct, _said(low), _said(high), missing)


def _said(end: Any) -> str:
    return str(end.isoformat() if hasattr(end, "isoformat") else end)

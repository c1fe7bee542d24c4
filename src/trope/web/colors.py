"""What the points of a map can be colored by: few values, or numbers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

from trope.index.items import LEARNED
from trope.web.facets import Facet, Facets

HUES = 12  # values that get a color of their own
OTHER = -1.0
NAMED = 3  # labels that have no color


@dataclass(frozen=True)
class Color:
    """A column of the points: numbers, or places in `names` (-1 for none of them).

    `told` says what one should know of it.
    """

    column: str
    kind: Literal["choice", "number"]
    names: tuple[str, ...] = ()
    values: tuple[float | None, ...] = field(default=(), repr=False)
    low: float | None = None
    high: float | None = None
    told: str = ""


def colors(rows: pa.Table, facets: Facets) -> tuple[Color, ...]:
    """Everything that can be filtered by, and whether the model has learned from a row."""
    found = [_color(rows, facet) for facet in facets.columns if facet.column in rows.column_names]
    known = rows.column(LEARNED).to_pylist()
    learned = tuple(float(bool(value)) for value in known)
    told = Color("learned", "choice", ("new to the model", "learned from"), learned)
    return (*(color for color in found if color is not None), told)


def _color(rows: pa.Table, facet: Facet) -> Color | None:
    column = rows.column(facet.column)
    if facet.kind == "number":
        return _numbers(facet.column, column)
    if facet.kind == "date":
        return None
    given = column.to_pylist()
    values = [_first(value) for value in given]
    counts = Counter(v for v in values if v is not None)
    names = sorted(counts, key=lambda name: (-counts[name], name))[:HUES]
    places = {name: float(place) for place, name in enumerate(names)}
    chosen = tuple(places.get(value, OTHER) if value else OTHER for value in values)
    told = _told(given, counts) if facet.kind == "labels" else ""
    return Color(facet.column, "choice", tuple(names), chosen, told=told)


def _told(lists: list[list[str] | None], firsts: Counter[str]) -> str:
    """What is colored where an item has several."""
    never = sorted({value for one in lists for value in one or ()} - firsts.keys())
    more = f" and {len(never) - NAMED:,} more" if len(never) > NAMED else ""
    others = f"; never first, and so without a color: {', '.join(never[:NAMED])}" if never else ""
    return f"by the first of each item{others}{more}"


def _numbers(name: str, column: pa.ChunkedArray) -> Color | None:
    numbers = column.cast(pa.float64())
    finite = pc.if_else(pc.is_finite(numbers), numbers, pa.scalar(None, pa.float64()))
    ends = pc.min_max(finite)
    values = tuple(finite.to_pylist())
    return Color(name, "number", (), values, ends["min"].as_py(), ends["max"].as_py())


def _first(value: Any) -> str | None:
    """A value to color by; of labels the first."""
    if isinstance(value, list):
        return str(value[0]) if value else None
    if isinstance(value, bool):
        return str(value).lower()
    return None if value is None else str(value)

"""What an index holds: items, each a picture or a text of a row, with one or K vectors.

An item's id says what it is and which row it belongs to: `image:ROW`, or `text:2:ROW` for the third
text of a row. Its line of the table has the row's own columns, and a few of the index, which begin
with `trope.` so that no data set has them too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal, TypeAlias, get_args

import numpy as np
import pyarrow as pa
from jaxtyping import Float32, Int

from trope.errors import DataError
from trope.index.details import Details

Modality: TypeAlias = Literal["image", "text"]
MODALITIES: tuple[Modality, ...] = get_args(Modality)

KEY, MODALITY = "trope.key", "trope.modality"
PLACE = "trope.place"  # of a text among those of its row
SOURCE = "trope.source"  # the number of the data set among the index's sources
DIGEST = "trope.digest"  # of a picture's bytes when it was indexed; older indexes lack it
LEARNED = "trope.learned"  # whether the model was trained on the row
SHOWN = ("id", "image", "text", "labels", "group", "split")  # what every row has

Vectors: TypeAlias = Float32[np.ndarray, "items senses d"]


@dataclass(frozen=True, eq=False)
class Items:
    """Items with their vectors and their lines; `ids` are the column `trope.key` of the lines.

    `details` are what a scorer needs besides; they are read when they are asked for.
    """

    vectors: Vectors
    rows: pa.Table
    details: Details | None = None

    def __post_init__(self) -> None:
        if len(self.vectors) != len(self.rows):
            raise ValueError(f"{len(self.vectors)} vectors for {len(self.rows)} lines")
        if self.details is not None and len(self.details) != len(self.rows):
            raise ValueError(f"details of {len(self.details)} items for {len(self.rows)} lines")

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def ids(self) -> list[str]:
        """The items' names."""
        return list(self.rows.column(KEY).to_pylist())

    def take(self, places: Int[np.ndarray, " some"]) -> Items:
        """Some of them, in the order of their places."""
        details = None if self.details is None else self.details.take(places)
        return Items(self.vectors[places], self.rows.take(pa.array(places)), details)


def image_key(row: str) -> str:
    """The name of a row's picture."""
    return f"image:{row}"


def text_key(row: str, place: int) -> str:
    """The name of a row's text."""
    return f"text:{place}:{row}"


def modality_of(key: str) -> Modality:
    """What an item is, from its name."""
    return "image" if key.startswith("image:") else "text"


def row_of(key: str) -> str:
    """The id of the row that an item belongs to, from its name."""
    return key.split(":", 1 if modality_of(key) == "image" else 2)[-1]


def joined(tables: Iterable[pa.Table]) -> pa.Table:
    """Lines one after the other; a column that some lack is empty there.

    Columns of the same name must hold the same, up to the size of numbers.
    """
    several = list(tables)
    try:
        found = pa.concat_tables(several, promote_options="permissive")
    except pa.ArrowException as error:
        raise DataError(_unlike(several, error)) from None
    return found.combine_chunks()


def together(several: Sequence[Items]) -> Items:
    """Items one after the other."""
    details = [items.details for items in several]
    held = [some for some in details if some is not None]
    return Items(
        np.concatenate([items.vectors for items in several]),
        joined([items.rows for items in several]),
        reduce(Details.with_items, held) if held else None,
    )


def _unlike(tables: Sequence[pa.Table], error: Exception) -> str:
    """Which column holds different things in two data sets."""
    for name in dict.fromkeys(name for table in tables for name in table.column_names):
        kinds = {str(t.schema.field(name).type) for t in tables if name in t.column_names}
        try:
            schemas = [pa.schema([t.schema.field(name)]) for t in tables if name in t.column_names]
            pa.unify_schemas(schemas, promote_options="permissive")
        except pa.ArrowException:
            return f"column '{name}': holds {' and '.join(sorted(kinds))}; make them the same"
    return f"lines that do not fit together ({error})"

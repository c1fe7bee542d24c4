"""The items of a data set: which there are, and the line that each has in the index."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Bool, Int

from trope.data.digests import WIDTH, Digests
from trope.data.pairs import Pairs
from trope.data.schema import SCHEMA
from trope.index.filters.tree import OWN
from trope.index.items import (
    DIGEST,
    KEY,
    LEARNED,
    MODALITY,
    PLACE,
    SHOWN,
    SOURCE,
    Modality,
    image_key,
    text_key,
)

Rows = Int[np.ndarray, " items"]


@dataclass(frozen=True, eq=False)
class Lines:
    """Writes lines for items of a data set.

    `learned` are the rows that the model knows, `digests` what their pictures are known by.
    """

    pairs: Pairs
    source: int
    learned: Bool[np.ndarray, " rows"] = field(repr=False)
    digests: Digests = field(repr=False)

    def images(self, rows: Rows) -> pa.Table:
        """A line for the picture of each of these rows, with the row's first text beside it."""
        names = self.pairs.ids
        first = pc.list_element(_filled(self.pairs.column("texts")), 0)
        keys = [image_key(names[row]) for row in rows]
        places = np.zeros(len(rows), np.int64)
        table = self._table(rows, keys, places, first.take(rows), "image")
        return table.append_column(DIGEST, _hexadecimal(self.digests[rows]))

    def texts(self, texts: Rows) -> pa.Table:
        """A line for each of these texts, which are counted through the whole data set."""
        flat, owners = self.pairs.flat_texts()
        rows = owners[texts]
        before = np.concatenate([[0], np.cumsum(self.pairs.text_counts)])[:-1]
        places = texts - before[rows]
        names = self.pairs.ids
        keys = [text_key(names[row], int(place)) for row, place in zip(rows, places, strict=True)]
        return self._table(rows, keys, places, flat.take(pa.array(texts)), "text")

    def _table(
        self, rows: Rows, keys: list[str], places: Rows, texts: pa.ChunkedArray, kind: Modality
    ) -> pa.Table:
        some = self.pairs.take(rows).table
        count = len(rows)
        columns: dict[str, pa.Array] = {
            KEY: pa.array(keys, pa.string()),
            MODALITY: pa.array([kind] * count, pa.string()),
            PLACE: pa.array(places, pa.int32()),
            SOURCE: pa.array(np.full(count, self.source), pa.int32()),
            LEARNED: pa.array(self.learned[rows]),
        }
        for name in SHOWN:
            columns[name] = texts if name == "text" else some.column(name)
        fields = [pa.field(name, column.type) for name, column in columns.items()]
        for name in some.column_names:
            if name not in SCHEMA.names and not name.startswith(OWN):
                columns[name] = _plain(some.column(name))
                fields.append(some.schema.field(name).with_type(columns[name].type))
        return pa.table(list(columns.values()), schema=pa.schema(fields)).combine_chunks()


def _hexadecimal(digests: Digests) -> pa.Array:
    """Digests as text, with the zeros at their end; gaps where there is no picture."""
    known = digests.tolist()
    return pa.array([one.ljust(WIDTH, b"\0").hex() if one else None for one in known], pa.string())


def _filled(lists: pa.ChunkedArray) -> pa.ChunkedArray:
    """Lists with a gap in place of nothing, so that each has a first entry."""
    empty = pa.scalar([None], lists.type)
    return pc.if_else(pc.greater(pc.list_value_length(lists), 0), lists, empty)


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column as filters know it: values themselves, however the file had written them."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _plain(column.cast(kind.value_type))
    if pa.types.is_large_string(kind):
        return column.cast(pa.string())
    if pa.types.is_large_list(kind):
        return column.cast(pa.list_(kind.value_type))
    return column

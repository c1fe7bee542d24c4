"""Engines whose items are files of the index's own folder: `exact`, and `faiss`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
from jaxtyping import Bool, Int

from trope.errors import DataError, UsageError
from trope.index.candidates import Places, Queries, Scores, by_all
from trope.index.changing import Change
from trope.index.details import Details
from trope.index.engine import Found
from trope.index.filters import Filter, check
from trope.index.folder import State, opened, write_state, writing
from trope.index.items import (
    KEY,
    MODALITIES,
    Items,
    Modality,
    Vectors,
    joined,
    modality_of,
    together,
)
from trope.index.parts import Part, empty, read_part
from trope.index.settings import IndexSettings


class Local(ABC):
    """Items of both modalities, each a part of the state that was opened."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reload()

    def reload(self) -> None:
        """See the newest state."""
        self.state, self.parts = opened(self.folder, partial(_read_parts, self.folder))

    @property
    def schema(self) -> pa.Schema:
        """The columns of the items' lines."""
        tables = [part.rows.schema.empty_table() for part in self.parts.values()]
        return joined(tables).schema if tables else empty(1, 1).rows.schema

    def count(self, modality: Modality) -> int:
        """How many pictures or texts there are."""
        return len(self.parts[modality]) if modality in self.parts else 0

    def add(
        self,
        ids: Sequence[str],
        vectors: Vectors,
        rows: pa.Table,
        instead_of: Sequence[str] = (),
        details: Details | None = None,
    ) -> None:
        """Put items in; those with the same ids, and those of `instead_of`, go in the same step."""
        items = Items(vectors, rows.set_column(*_keyed(rows, ids)), details)
        with writing(self.folder) as state:
            refuse_other_shape(state, vectors)
            refuse_other_details(state, details)
            refuse_twice(ids)
            parts, which = dict(state.parts), _modalities(ids)
            change = self._change(state, [*ids, *instead_of])
            change.refuse_unlike(items.rows)
            for modality in MODALITIES:
                mine = np.flatnonzero(which == modality)
                change.written(parts, modality, _some(items, mine))
            write_state(self.folder, replace(state, number=state.number + 1, parts=parts))
        self.reload()

    def remove(self, ids: Sequence[str]) -> int:
        """Take items out; how many of the ids were there."""
        with writing(self.folder) as state:
            parts, change = dict(state.parts), self._change(state, list(dict.fromkeys(ids)))
            removed = sum(change.written(parts, modality) for modality in MODALITIES)
            if removed:
                write_state(self.folder, replace(state, number=state.number + 1, parts=parts))
        self.reload()
        return removed

    def nearest(
        self, vectors: Queries, k: int, modality: Modality, where: Filter | None = None
    ) -> Found:
        """The k items of a modality that are most like each query, among those that pass."""
        part = self.parts.get(modality)
        if where is not None:
            check(where, self.schema)
        if part is None or not len(part.nodes):
            return Found(*_empty(len(vectors), k))
        places, scores = self._search(part, vectors, k, part.allowed(where))
        return Found(part.names(places), scores)

    def get(self, ids: Sequence[str]) -> Items:
        """Items by id, in the order asked; one that is not there is refused."""
        which, order, found = _modalities(ids), [], []
        for modality, part in self.parts.items():
            mine = np.flatnonzero(which == modality)
            if len(mine):
                places = part.places(pa.array([ids[int(i)] for i in mine], pa.string()))
                _refuse_unknown(self.folder, ids, mine[places < 0])
                order.append(mine)
                found.append(part.items(places))
        known = np.concatenate([np.empty(0, np.int64), *order])
        _refuse_unknown(self.folder, ids, np.setdiff1d(np.arange(len(ids)), known))
        if not found:
            shape = (0, self.state.senses, self.state.size)
            return Items(np.empty(shape, np.float32), self.schema.empty_table())
        return together(found).take(np.argsort(known))

    def find(self, where: Filter, most: int | None = None) -> list[str]:
        """The ids of all items that pass a filter, or of so many of them."""
        check(where, self.schema)
        found: list[str] = []
        for part in self.parts.values():
            passing = part.allowed(where)
            assert passing is not None
            found += part.keys.filter(pa.array(passing)).to_pylist()
        return found[:most]

    def close(self) -> None:
        """Let go of the files."""
        self.parts = {}

    def _change(self, state: State, gone: Sequence[str]) -> Change:
        return Change(self.folder, state, pa.array(gone, pa.string()), self._finished)

    @abstractmethod
    def _search(
        self, part: Part, queries: Queries, k: int, allowed: Bool[np.ndarray, " items"] | None
    ) -> tuple[Places, Scores]:
        """Where the k most like items of a part are."""

    def _finished(self, part: Part, settings: IndexSettings) -> Part:
        """A part with all it needs to be searched."""
        return part


class Exact(Local):
    """Every query compared with every item: slow where there are many, and never wrong."""

    def _search(
        self, part: Part, queries: Queries, k: int, allowed: Bool[np.ndarray, " items"] | None
    ) -> tuple[Places, Scores]:
        return by_all(part, queries, k, allowed)


def refuse_other_shape(state: State, vectors: Vectors) -> None:
    """All items of an index have as many vectors, as long as each other."""
    found, wanted = vectors.shape[1:], (state.senses, state.size)
    if len(vectors) and found != wanted:
        raise UsageError(f"vectors of shape {found} for an index of items of shape {wanted}")


def refuse_other_details(state: State, details: Details | None) -> None:
    """All items of an index have what its scorer needs, or none has."""
    found = "" if details is None else details.kind
    if found != state.details:
        raise UsageError(
            f"items with {found or 'vectors alone'} for an index of items with "
            f"{state.details or 'vectors alone'}"
        )


def refuse_twice(ids: Sequence[str]) -> None:
    """An id names one item."""
    seen: set[str] = set()
    for name in ids:
        if name in seen:
            raise DataError(f"item '{name}' comes twice; ids of rows must differ")
        seen.add(name)


def _read_parts(folder: Path, state: State) -> dict[str, Part]:
    return {name: read_part(folder, part, state.details) for name, part in state.parts.items()}


def _modalities(ids: Sequence[str]) -> np.ndarray:
    return np.array([modality_of(name) for name in ids], "U5")


def _keyed(rows: pa.Table, ids: Sequence[str]) -> tuple[int, str, pa.Array]:
    """Where the column of ids belongs."""
    if KEY not in rows.column_names:
        raise ValueError(f"the rows have no column {KEY}")
    return rows.column_names.index(KEY), KEY, pa.array(ids, pa.string())


def _some(items: Items, places: Int[np.ndarray, " some"]) -> Items | None:
    if not len(places):
        return None
    return items if len(places) == len(items) else items.take(places)


def _empty(queries: int, k: int) -> tuple[np.ndarray, np.ndarray]:
    return np.full((queries, k), None, object), np.full((queries, k), -np.inf, np.float32)


def _refuse_unknown(folder: Path, ids: Sequence[str], places: Int[np.ndarray, " some"]) -> None:
    if len(places):
        raise UsageError(f"{folder}: holds no item '{ids[int(places[0])]}'")

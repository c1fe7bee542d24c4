"""Items in no particular order, for a page where nothing is asked yet; always the same order."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from trope.index import Engine
from trope.index.filters import Filter, check
from trope.index.filters.tree import Compare, Every
from trope.index.items import MODALITIES, MODALITY, Modality
from trope.index.local import Local
from trope.runtime import generator
from trope.search.index import Find
from trope.web.asked import DEEPEST


def passing(engine: Engine, find: Find, where: Filter | None) -> int | None:
    """How many items a filter lets pass; None where counting them would take long."""
    chosen = [name for name in MODALITIES if find in (name, "both")]
    if where is None:
        return sum(engine.count(name) for name in chosen)
    if not isinstance(engine, Local):
        return None
    masks = [part.allowed(where) for name in chosen if (part := engine.parts.get(name))]
    return sum(int(np.count_nonzero(mask)) for mask in masks if mask is not None)


class Browsing:
    """The items of an engine in one shuffled order, drawn once where nothing is filtered."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._kept: dict[Find, list[str]] = {}

    def keys(self, find: Find, where: Filter | None) -> list[str]:
        """The keys of the first items that pass, as many as can be paged through."""
        if where is not None:
            check(where, self._engine.schema)
            return self._drawn(find, where)
        if find not in self._kept:
            self._kept[find] = self._drawn(find, None)
        return self._kept[find]

    def _drawn(self, find: Find, where: Filter | None) -> list[str]:
        kinds = [name for name in MODALITIES if find in (name, "both")]
        keys = pa.chunked_array([_keys(self._engine, name, where) for name in kinds], pa.string())
        order = generator(0, "browse").permutation(len(keys))[:DEEPEST]
        return [str(key) for key in keys.take(pa.array(order)).to_pylist()]


def _keys(engine: Engine, modality: Modality, where: Filter | None) -> pa.Array:
    """All that pass; of a server, no more than can be gone through."""
    if not isinstance(engine, Local):
        kind = Compare(MODALITY, "=", modality)
        wanted = kind if where is None else Every((kind, where))
        return pa.array(engine.find(wanted, DEEPEST), pa.string())
    part = engine.parts.get(modality)
    if part is None:
        return pa.array([], pa.string())
    allowed = part.allowed(where)
    return part.keys if allowed is None else part.keys.filter(pa.array(allowed))

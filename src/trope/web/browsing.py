"""Items in no particular order, for a page where nothing is asked yet; always the same order."""

from __future__ import annotations

import numpy as np

from trope.index import Engine
from trope.index.filters import Filter, check
from trope.index.filters.tree import Compare, Every
from trope.index.items import MODALITIES, MODALITY, Modality
from trope.index.local import Local
from trope.runtime import generator
from trope.search.index import Find


def passing(engine: Engine, find: Find, where: Filter | None) -> int | None:
    """How many items a filter lets pass; None where counting them would take long."""
    chosen = [name for name in MODALITIES if find in (name, "both")]
    if where is None:
        return sum(engine.count(name) for name in chosen)
    if not isinstance(engine, Local):
        return None
    masks = [part.allowed(where) for name in chosen if (part := engine.parts.get(name))]
    return sum(int(np.count_nonzero(mask)) for mask in masks if mask is not None)


def browsed(engine: Engine, modality: Modality, where: Filter | None, count: int) -> list[str]:
    """The keys of the first items that pass, shuffled."""
    if where is not None:
        check(where, engine.schema)
    if isinstance(engine, Local):
        part = engine.parts.get(modality)
        if part is None:
            return []
        allowed = part.allowed(where)
        rows = np.arange(len(part.senses)) if allowed is None else np.flatnonzero(allowed)
        found = part.keys.take(_shuffled(rows)[:count]).to_pylist()
        return [str(key) for key in found]
    kind = Compare(MODALITY, "=", modality)
    keys = np.array(engine.find(kind if where is None else Every((kind, where))), object)
    return [str(key) for key in _shuffled(keys)[:count]]


def _shuffled(values: np.ndarray) -> np.ndarray:
    return np.asarray(generator(0, "browse").permutation(values))

"""Some items of an index on a server, drawn by chance: no more of it is fetched."""

from __future__ import annotations

from trope.index import Engine
from trope.index.filters.tree import Compare
from trope.index.items import MODALITIES, MODALITY


def drawn(engine: Engine, most: int) -> list[str]:
    """The keys of all items, or of so many: of each modality its share, always the same ones.

    A server finds items in the order of hashes of their keys, so that the first are any.
    """
    counts = {modality: engine.count(modality) for modality in MODALITIES}
    total = sum(counts.values())
    keys: list[str] = []
    for modality, count in counts.items():
        if share := count * min(most, total) // max(total, 1):
            keys += engine.find(Compare(MODALITY, "=", modality), share)
    return keys

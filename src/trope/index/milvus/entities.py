"""Items as entities of a collection, one for each sense, and in batches that a server takes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from trope.index.items import KEY, MODALITIES, Modality, Vectors, modality_of

FOREVER = 2**62
MESSAGE = 2**24  # bytes sent at a time; a server refuses 64 MB
FIELDS = ("pk", "name", "sense", "born", "died", "vector", "row")


def entities_of(
    ids: Sequence[str], vectors: Vectors, rows: Sequence[dict[str, Any]], born: int
) -> Iterator[dict[str, Any]]:
    """An entity for each sense of each item."""
    for key, senses, row in zip(ids, vectors, rows, strict=True):
        for sense, vector in enumerate(senses):
            name = name_of(key)
            yield {
                "pk": f"{name}-{sense}-{born}",
                "name": name,
                "key": key,
                "sense": sense,
                "born": born,
                "died": FOREVER,
                "vector": vector.tolist(),
                "row": row | {KEY: key},
            }


def batches(
    entities: Iterable[dict[str, Any]], size: int
) -> Iterator[tuple[Modality, list[dict[str, Any]]]]:
    """Entities of one partition, so many at a time, or fewer where they are large."""
    waiting: dict[Modality, list[dict[str, Any]]] = {modality: [] for modality in MODALITIES}
    heavy = dict.fromkeys(MODALITIES, 0)
    for entity in entities:
        modality = modality_of(entity["key"])
        weight = 4 * len(entity["vector"]) + len(orjson.dumps(entity["row"])) + len(entity["key"])
        full = len(waiting[modality]) == size or heavy[modality] + weight > MESSAGE
        if full and waiting[modality]:
            yield modality, waiting[modality]
            waiting[modality], heavy[modality] = [], 0
        waiting[modality].append(entity)
        heavy[modality] += weight
    for modality, rest in waiting.items():
        if rest:
            yield modality, rest


def name_of(key: str) -> str:
    """What an item is asked for by, however long its id is."""
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def among(keys: Sequence[str]) -> str:
    """Those of some items, in the language of the server."""
    names = ", ".join(f'"{name_of(key)}"' for key in keys)
    return f"name in [{names}]"

"""Items of one state of a collection: the nearest, some by id, those that pass a filter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from trope.errors import UsageError
from trope.index.engine import Found, Queries
from trope.index.filters import Filter, check
from trope.index.filters.milvus import expression
from trope.index.folder import opened
from trope.index.items import KEY, MODALITIES, Items, Modality
from trope.index.milvus.claims import refuse_earlier
from trope.index.milvus.collection import LEVELS, schema_of
from trope.index.milvus.entities import among
from trope.index.milvus.named import read_named
from trope.index.milvus.server import connected, told
from trope.index.remote_rows import LARGEST, lines

MOST = 16_384  # results that Milvus gives to one query
ANSWER = 2**26  # bytes of an answer at most; a server refuses 100 MB


class Reading:
    """Items on a server; the folder says which state is the one to be seen."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.reload()
        refuse_earlier(folder, self.state)
        self.client = connected(self.state.settings.uri)

    def reload(self) -> None:
        """See the newest state."""
        self.state, self.named = opened(self.folder, partial(read_named, self.folder))

    @property
    def schema(self) -> pa.Schema:
        """The columns of the items' lines."""
        return schema_of(self.state)

    def count(self, modality: Modality) -> int:
        """How many pictures or texts there are."""
        found = self._query("sense == 0", ["count(*)"], modality)
        return int(found[0]["count(*)"])

    def nearest(
        self, vectors: Queries, k: int, modality: Modality, where: Filter | None = None
    ) -> Found:
        """The k items of a modality that are most like each query, among those that pass."""
        if where is not None:
            check(where, self.schema)
        settings = self.state.settings
        count = (k - 1) * self.state.senses + 1
        if count > MOST:
            raise UsageError(f"milvus: at most {MOST:,} vectors can be asked for, not {count:,}")
        with told(settings.uri):
            found = self.client.search(
                self._collection,
                np.ascontiguousarray(vectors.reshape(-1, vectors.shape[2])),
                filter=self._visible(where),
                limit=count,
                output_fields=["key"],
                search_params={"metric_type": "IP", "params": {"ef": max(settings.asking, count)}},
                partition_names=[modality],
                consistency_level=LEVELS[settings.consistency],
            )
        return _found(found, len(vectors), k)

    def get(self, ids: Sequence[str]) -> Items:
        """Items by id, in the order asked; one that is not there is refused."""
        known: dict[str, dict[int, Any]] = defaultdict(dict)
        rows: dict[str, Any] = {}
        for part in portions(list(dict.fromkeys(ids)), self._most):
            for entity in self._query(among(part), ["sense", "vector", "row"]):
                known[entity["row"][KEY]][entity["sense"]] = entity["vector"]
                rows[entity["row"][KEY]] = entity["row"]
        for name in ids:
            if name not in rows:
                raise UsageError(f"{self.folder}: holds no item '{name}'")
        shape = (len(ids), self.state.senses, self.state.size)
        vectors = [[known[name][i] for i in range(self.state.senses)] for name in ids]
        found = lines([rows[name] for name in ids], self.schema)
        details = None if self.named is None else self.named.of(ids)
        return Items(np.array(vectors, np.float32).reshape(shape), found, details)

    def find(self, where: Filter, most: int | None = None) -> list[str]:
        """The ids of all items that pass a filter, or of so many of them."""
        check(where, self.schema)
        asked = f"sense == 0 and {expression(where, self.schema)}"
        return [entity["key"] for entity in self._all(asked, ["key"], most=most)]

    def close(self) -> None:
        """Let go of the connection."""
        self.client.close()

    @property
    def _collection(self) -> str:
        return self.state.remote["collection"]

    @property
    def _most(self) -> int:
        """Items that are asked for at a time: an answer has all their senses, each with its row."""
        each = (LARGEST + 4 * self.state.size) * self.state.senses
        return max(1, min(self.state.settings.batch // self.state.senses, ANSWER // each))

    def _visible(self, where: Filter | None) -> str:
        number = self.state.number
        seen = f"born <= {number} and died > {number}"
        return seen if where is None else f"{seen} and {expression(where, self.schema)}"

    def _query(
        self, asked: str, fields: list[str], modality: Modality | None = None
    ) -> list[dict[str, Any]]:
        """Entities of the state that is seen; as a write must know them all, none may be missed."""
        with told(self.state.settings.uri):
            found = self.client.query(
                self._collection,
                filter=f"{self._visible(None)} and {asked}",
                output_fields=[*fields, "key"] if fields != ["count(*)"] else fields,
                partition_names=[modality] if modality else list(MODALITIES),
                consistency_level="Strong",
            )
        return list(found)

    def _all(
        self, asked: str, fields: list[str], seen: bool = True, most: int | None = None
    ) -> list[dict[str, Any]]:
        """The same, however many there are, or so many; in the order of `pk`, which is a hash."""
        with told(self.state.settings.uri):
            pages = self.client.query_iterator(
                self._collection,
                batch_size=self.state.settings.batch,
                limit=-1 if most is None else most,
                filter=f"{self._visible(None)} and {asked}" if seen else asked,
                output_fields=list(dict.fromkeys([*fields, "key"])),
                consistency_level="Strong",
            )
            found: list[dict[str, Any]] = []
            while page := pages.next():
                found += page
            pages.close()
        return found


def _found(found: Any, queries: int, k: int) -> Found:
    """The best k items of each query, over all its senses and all of theirs."""
    ids, scores = np.full((queries, k), None, object), np.full((queries, k), -np.inf, np.float32)
    each = len(found) // max(queries, 1)
    for query in range(queries):
        best: dict[str, float] = {}
        for hits in found[query * each : (query + 1) * each]:
            for hit in hits:
                key = hit["entity"]["key"]
                best[key] = max(best.get(key, -np.inf), hit["distance"])
        order = sorted(best, key=lambda key: -best[key])[:k]
        ids[query, : len(order)] = order
        scores[query, : len(order)] = [best[key] for key in order]
    return Found(ids, scores)


def portions(keys: list[str], size: int) -> Iterator[list[str]]:
    """Some ids at a time."""
    for start in range(0, len(keys), size):
        yield keys[start : start + size]

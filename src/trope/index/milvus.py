"""The engine for many machines: a Milvus server, with one collection for each index.

A vector is an entity, in a partition for its modality; its row is a JSON document that the server
filters by. Entities have the numbers of the state in which they came (`born`) and went (`died`),
and every search asks for those of one state. So a write is seen as a whole once `index.json` names
the next state; what a killed one has left, the next one that writes puts right. What went with the
last write stays until the next one, so that who reads the state before it still finds all of it.
"""

from __future__ import annotations

import base64
import hashlib
import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np
import orjson
import pyarrow as pa

from trope.errors import MissingExtra, TropeError, UsageError
from trope.index.details import Details
from trope.index.engine import Found, Queries
from trope.index.filters import Filter, check
from trope.index.filters.milvus import expression
from trope.index.folder import FILE, State, read_state, write_state, writing
from trope.index.items import KEY, MODALITIES, Items, Modality, Vectors, joined, modality_of
from trope.index.local import refuse_other_details, refuse_other_shape, refuse_twice
from trope.index.remote_rows import LARGEST, documents, lines
from trope.runtime import progress_bar

TOKEN = "TROPE_MILVUS_TOKEN"  # what the server wants to be told; never written to a file
FOREVER = 2**62
MOST = 16_384  # results that Milvus gives to one query
MESSAGE = 2**24  # bytes sent at a time; a server refuses 64 MB
ANSWER = 2**26  # bytes of an answer at most; a server refuses 100 MB
LEVELS = {
    "strong": "Strong",
    "session": "Session",
    "bounded": "Bounded",
    "eventually": "Eventually",
}
FIELDS = ("pk", "name", "sense", "born", "died", "vector", "row")


class Milvus:
    """Items on a server; the folder says which state is the one to be seen."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.state = read_state(folder)
        self.client = connected(self.state.settings.uri)

    def reload(self) -> None:
        """See the newest state."""
        self.state = read_state(self.folder)

    @property
    def schema(self) -> pa.Schema:
        """The columns of the items' lines."""
        return _schema(self.state)

    def count(self, modality: Modality) -> int:
        """How many pictures or texts there are."""
        found = self._query("sense == 0", ["count(*)"], modality)
        return int(found[0]["count(*)"])

    def add(
        self,
        ids: Sequence[str],
        vectors: Vectors,
        rows: pa.Table,
        instead_of: Sequence[str] = (),
        details: Details | None = None,
    ) -> None:
        """Put items in; those with the same ids, and those of `instead_of`, go in the same step."""
        with self._writing() as state:
            refuse_other_shape(state, vectors)
            refuse_other_details(state, details)
            refuse_twice(ids)
            known = joined([_schema(state).empty_table(), rows.schema.empty_table()]).schema
            number = state.number + 1
            self._mark([*ids, *instead_of], number)
            entities = _entities(ids, vectors, documents(rows), number)
            with _told(self.state.settings.uri), progress_bar("to the server", len(ids)) as bar:
                for modality, batch in _batches(entities, state.settings.batch):
                    self.client.insert(self._collection, batch, partition_name=modality)
                    bar.advance(bar.task_ids[0], len(batch) / max(state.senses, 1))
            remote = state.remote | {"schema": _written(known)}
            self._switch(replace(state, number=number, remote=remote))

    def remove(self, ids: Sequence[str]) -> int:
        """Take items out; how many of the ids were there."""
        with self._writing() as state:
            marked = self._mark(ids, state.number + 1)
            if marked:
                self._switch(replace(state, number=state.number + 1))
        return marked

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
        with _told(settings.uri):
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
        for part in _parts(list(dict.fromkeys(ids)), self._most):
            for entity in self._query(_among(part), ["sense", "vector", "row"]):
                known[entity["row"][KEY]][entity["sense"]] = entity["vector"]
                rows[entity["row"][KEY]] = entity["row"]
        for name in ids:
            if name not in rows:
                raise UsageError(f"{self.folder}: holds no item '{name}'")
        shape = (len(ids), self.state.senses, self.state.size)
        vectors = [[known[name][i] for i in range(self.state.senses)] for name in ids]
        found = lines([rows[name] for name in ids], self.schema)
        return Items(np.array(vectors, np.float32).reshape(shape), found)

    def find(self, where: Filter, most: int | None = None) -> list[str]:
        """The ids of all items that pass a filter, or of so many of them."""
        check(where, self.schema)
        asked = f"sense == 0 and {expression(where)}"
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

    @contextmanager
    def _writing(self) -> Iterator[State]:
        """The state to change, once what a killed process left is put right."""
        with writing(self.folder) as state:
            self.state = state
            with _told(state.settings.uri):
                self._recover(state.number)
            yield state

    def _recover(self, number: int) -> None:
        """As the state of this number wants it: nothing of a later one, nothing long gone."""
        self.client.delete(self._collection, filter=f"born > {number} or died < {number}")
        marked = self._all(f"died > {number} and died < {FOREVER}", list(FIELDS), seen=False)
        self._rewritten(marked, FOREVER)

    def _mark(self, ids: Sequence[str], number: int) -> int:
        """Note when items go; they are seen until then. How many there were."""
        marked: set[str] = set()
        for part in _parts(list(dict.fromkeys(ids)), self._most):
            entities = self._query(_among(part), list(FIELDS))
            self._rewritten(entities, number)
            marked |= {entity["name"] for entity in entities}
        return len(marked)

    def _rewritten(self, entities: Sequence[Mapping[str, Any]], died: int) -> None:
        plain = ({name: entity[name] for name in (*FIELDS, "key")} for entity in entities)
        changed = [entity | {"died": died} for entity in plain]
        for modality, batch in _batches(changed, self.state.settings.batch):
            self.client.upsert(self._collection, batch, partition_name=modality)

    def _switch(self, state: State) -> None:
        """The new state is the one to be seen; what the one before had not either goes for good."""
        write_state(self.folder, state)
        self.state = state
        with _told(state.settings.uri):
            self.client.delete(self._collection, filter=f"died < {state.number}")

    def _visible(self, where: Filter | None) -> str:
        number = self.state.number
        seen = f"born <= {number} and died > {number}"
        return seen if where is None else f"{seen} and {expression(where)}"

    def _query(
        self, asked: str, fields: list[str], modality: Modality | None = None
    ) -> list[dict[str, Any]]:
        """Entities of the state that is seen; as a write must know them all, none may be missed."""
        with _told(self.state.settings.uri):
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
        with _told(self.state.settings.uri):
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


def connected(uri: str) -> Any:
    """A client of the server."""
    if find_spec("pymilvus") is None:
        raise MissingExtra("engine 'milvus'", "milvus")
    with _told(uri):
        package = import_module("pymilvus")
        return package.MilvusClient(uri=uri, token=os.environ.get(TOKEN, ""), timeout=30)


def created(folder: Path, state: State) -> State:
    """A collection for a new index; one of an attempt that was killed goes."""
    client = connected(state.settings.uri)
    with _told(state.settings.uri):
        if (folder / FILE).exists():
            with suppress(TropeError):
                client.drop_collection(read_state(folder).remote["collection"])
        name = f"trope_{token_hex(8)}"
        parameters = client.prepare_index_params()
        graph = {"M": state.settings.links, "efConstruction": state.settings.building}
        parameters.add_index("vector", index_type="HNSW", metric_type="IP", params=graph)
        client.create_collection(
            name,
            schema=_fields(client, state.size),
            index_params=parameters,
            consistency_level=LEVELS[state.settings.consistency],
        )
        for modality in MODALITIES:
            client.create_partition(name, modality)
        client.load_collection(name)
    client.close()
    nothing = pa.schema([(KEY, pa.string())])
    return replace(state, remote={"collection": name, "schema": _written(nothing)})


def _fields(client: Any, size: int) -> Any:
    """What an entity has."""
    kind = import_module("pymilvus").DataType
    made = client.create_schema(auto_id=False, enable_dynamic_field=False)
    made.add_field("pk", kind.VARCHAR, is_primary=True, max_length=64)
    made.add_field("name", kind.VARCHAR, max_length=32)
    made.add_field("key", kind.VARCHAR, max_length=65_535)
    for name in ("sense", "born", "died"):
        made.add_field(name, kind.INT64)
    made.add_field("vector", kind.FLOAT_VECTOR, dim=size)
    made.add_field("row", kind.JSON)
    return made


def _entities(
    ids: Sequence[str], vectors: Vectors, rows: Sequence[dict[str, Any]], born: int
) -> Iterator[dict[str, Any]]:
    for key, senses, row in zip(ids, vectors, rows, strict=True):
        for sense, vector in enumerate(senses):
            name = _name(key)
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


def _batches(
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


def _name(key: str) -> str:
    return hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def _among(keys: Sequence[str]) -> str:
    names = ", ".join(f'"{_name(key)}"' for key in keys)
    return f"name in [{names}]"


def _parts(keys: list[str], size: int) -> Iterator[list[str]]:
    for start in range(0, len(keys), size):
        yield keys[start : start + size]


def _schema(state: State) -> pa.Schema:
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(state.remote["schema"])))


def _written(schema: pa.Schema) -> str:
    return base64.b64encode(schema.serialize().to_pybytes()).decode()


@contextmanager
def _told(uri: str) -> Iterator[None]:
    """What the server or the way to it comes up with, as one line."""
    try:
        yield
    except TropeError:
        raise
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("pymilvus", "grpc"):
            raise
        raise TropeError(f"milvus at {uri}: {_reason(error)[:300]}") from None


def _reason(error: Exception) -> str:
    """The line that says what happened; those of gRPC come with a page around it."""
    text = (str(getattr(error, "message", "")) or str(error)).strip()
    inside = re.search(r'details = "(.+?)"\s*$', text, flags=re.M)
    lines = [inside[1]] if inside else text.splitlines()
    return lines[0] if lines else repr(error)

"""The collection of an index on the server: what an entity of it has, and the rows' columns."""

from __future__ import annotations

import base64
from dataclasses import replace
from importlib import import_module
from secrets import token_hex
from typing import Any

import pyarrow as pa

from trope.errors import TropeError
from trope.index.folder import State
from trope.index.items import KEY, MODALITIES
from trope.index.milvus.claims import PROPERTY, WRITER, written_last
from trope.index.milvus.server import connected, told
from trope.runtime import remark

LEVELS = {
    "strong": "Strong",
    "session": "Session",
    "bounded": "Bounded",
    "eventually": "Eventually",
}


def planned(state: State) -> State:
    """The state of a new index, with what its collection is called."""
    nothing = pa.schema([(KEY, pa.string())])
    about = {"collection": f"trope_{token_hex(8)}", WRITER: token_hex(8)}
    return replace(state, remote=about | {"schema": written_schema(nothing)})


def make(state: State) -> None:
    """The collection of a new index, without items."""
    client, name = connected(state.settings.uri), state.remote["collection"]
    with told(state.settings.uri):
        parameters = client.prepare_index_params()
        graph = {"M": state.settings.links, "efConstruction": state.settings.building}
        parameters.add_index("vector", index_type="HNSW", metric_type="IP", params=graph)
        client.create_collection(
            name,
            schema=_fields(client, state.size),
            index_params=parameters,
            consistency_level=LEVELS[state.settings.consistency],
            properties={PROPERTY: f">{state.remote[WRITER]}"},
        )
        for modality in MODALITIES:
            client.create_partition(name, modality)
        client.load_collection(name)
    client.close()


def drop(state: State) -> None:
    """Take a collection away, unless another copy of its index has written to it since."""
    uri, name = state.settings.uri, state.remote["collection"]
    try:
        client = connected(uri)
        with told(uri):
            if client.has_collection(name) and written_last(client, state):
                client.drop_collection(name)
        client.close()
    except TropeError as error:
        remark(f"collection {name}, which was begun and never used, stays there ({error})")


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


def schema_of(state: State) -> pa.Schema:
    """The columns of the rows, as a state has them."""
    return pa.ipc.read_schema(pa.py_buffer(base64.b64decode(state.remote["schema"])))


def written_schema(schema: pa.Schema) -> str:
    """The same in text."""
    return base64.b64encode(schema.serialize().to_pybytes()).decode()

"""The collection of an index on the server: what an entity of it has, and the rows' columns."""

from __future__ import annotations

import base64
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from secrets import token_hex
from typing import Any

import pyarrow as pa

from trope.errors import TropeError
from trope.index.folder import FILE, State, read_state
from trope.index.items import KEY, MODALITIES
from trope.index.milvus.claims import PROPERTY, WRITER
from trope.index.milvus.server import connected, told

LEVELS = {
    "strong": "Strong",
    "session": "Session",
    "bounded": "Bounded",
    "eventually": "Eventually",
}


def created(folder: Path, state: State) -> State:
    """A collection for a new index; one of an attempt that was killed goes."""
    client = connected(state.settings.uri)
    with told(state.settings.uri):
        if (folder / FILE).exists():
            with suppress(TropeError):
                client.drop_collection(read_state(folder).remote["collection"])
        name, token = f"trope_{token_hex(8)}", token_hex(8)
        parameters = client.prepare_index_params()
        graph = {"M": state.settings.links, "efConstruction": state.settings.building}
        parameters.add_index("vector", index_type="HNSW", metric_type="IP", params=graph)
        client.create_collection(
            name,
            schema=_fields(client, state.size),
            index_params=parameters,
            consistency_level=LEVELS[state.settings.consistency],
            properties={PROPERTY: f">{token}"},
        )
        for modality in MODALITIES:
            client.create_partition(name, modality)
        client.load_collection(name)
    client.close()
    nothing = pa.schema([(KEY, pa.string())])
    remote = {"collection": name, "schema": written_schema(nothing), WRITER: token}
    return replace(state, remote=remote)


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

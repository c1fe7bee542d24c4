"""Lines of items as JSON documents for a server, and back as they were."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import pyarrow as pa

from trope.data.documents import json_line
from trope.errors import DataError
from trope.index.items import KEY

LARGEST = 65_000  # bytes of a document that Milvus takes, less a little


def documents(rows: pa.Table) -> list[dict[str, Any]]:
    """A document for each line; what is missing is left out."""
    found = []
    for line in rows.to_pylist():
        text = json_line({name: value for name, value in line.items() if value is not None})
        if len(text) > LARGEST:
            raise DataError(
                f"item '{line[KEY]}': its columns take {len(text):,} bytes, Milvus keeps up to "
                f"{LARGEST:,}; leave out long ones, or use another engine"
            )
        document = orjson.loads(text)
        found.append({name: value for name, value in document.items() if value is not None})
    return found


def lines(found: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """The lines that documents were made of."""
    columns = [_column([line.get(field.name) for line in found], field.type) for field in schema]
    return pa.table(columns, schema=schema)


def _column(values: list[Any], kind: pa.DataType) -> pa.Array:
    if pa.types.is_temporal(kind) or pa.types.is_decimal(kind):
        return pa.array(values, pa.string()).cast(kind)
    if "binary" in str(kind):
        return pa.array([None if v is None else base64.b64decode(v) for v in values], kind)
    return pa.array(values, kind)

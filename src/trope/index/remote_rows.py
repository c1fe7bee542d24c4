"""Lines of items as JSON documents for a server, and back as they were."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa

from trope.data.documents import dumps
from trope.errors import DataError
from trope.index.items import KEY
from trope.index.remote_kinds import keeps
from trope.index.remote_values import read, written

LARGEST = 65_000  # bytes of a document that Milvus takes, less a little


def documents(rows: pa.Table) -> list[dict[str, Any]]:
    """A document for each line; what is missing is left out."""
    columns = [_column(name, rows.column(name)) for name in rows.column_names]
    found = []
    for line in zip(*columns, strict=True):
        named = zip(rows.column_names, line, strict=True)
        document = {name: value for name, value in named if value is not None}
        _refuse_large(document)
        found.append(document)
    return found


def lines(found: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """The lines that documents were made of."""
    columns = [read([line.get(field.name) for line in found], field.type) for field in schema]
    return pa.table(columns, schema=schema)


def refuse_other_kinds(old: pa.Schema, new: pa.Schema) -> None:
    """Documents that are there stay as they are, so their columns must mean the same as before."""
    for field in old:
        kind = new.field(field.name).type
        if not keeps(field.type, kind):
            raise DataError(
                f"column '{field.name}': held {field.type}, which Milvus cannot keep together "
                f"with {kind}; make them the same"
            )


def _column(name: str, column: pa.ChunkedArray) -> list[Any]:
    try:
        return written(column)
    except ValueError as error:
        raise DataError(f"column '{name}': Milvus cannot keep it ({error})") from None


def _refuse_large(document: Mapping[str, Any]) -> None:
    size = len(dumps(document)) + 1
    if size > LARGEST:
        raise DataError(
            f"item '{document[KEY]}': its columns take {size:,} bytes, Milvus keeps up to "
            f"{LARGEST:,}; leave out long ones, or use another engine"
        )

"""The columns every data set has after reading, whatever file it came from.

`id`, `image`, `group`, `split`: string · `texts`, `labels`: list of string · then the extra columns.
All conversions work on whole Arrow columns.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Int

from trope.errors import DataError

LISTS = pa.list_(pa.string())
SCHEMA = pa.schema(
    [
        ("id", pa.string()),
        ("image", pa.string()),
        ("texts", LISTS),
        ("labels", LISTS),
        ("group", pa.string()),
        ("split", pa.string()),
    ]
)
KNOWN = ("id", "image", "text", "texts", "labels", "group", "split")
JSON_MARK = {b"trope": b"json"}  # metadata of an extra column whose cells are JSON documents

SPLIT_ALIASES = {
    "training": "train",
    "restval": "train",
    "validation": "val",
    "valid": "val",
    "dev": "val",
    "development": "val",
    "testing": "test",
}


def canonical(raw: pa.Table, lines: Int[np.ndarray, "rows"], origin: str) -> pa.Table:
    """The table with the known columns in their one form; extra columns follow as they are."""
    columns = {
        "id": _ids(raw, lines, origin),
        "image": _blank_to_null(_string_column(raw, "image", origin)),
        "texts": _texts(raw, origin),
        "labels": _list_column(raw, "labels", origin),
        "group": _blank_to_null(_string_column(raw, "group", origin)),
        "split": split_names(_blank_to_null(_string_column(raw, "split", origin))),
    }
    extras = [name for name in raw.column_names if name not in KNOWN]
    fields = [*SCHEMA, *(raw.schema.field(name) for name in extras)]
    arrays = [*(columns[name] for name in SCHEMA.names), *(raw.column(name) for name in extras)]
    return pa.table(arrays, schema=pa.schema(fields))


def require(names: Iterable[str], origin: str) -> None:
    """Refuse a table that has neither pictures nor texts, and say what it has instead."""
    has = set(names)
    if not has & {"image", "text", "texts", "image_feature", "text_feature"}:
        found = ", ".join(sorted(has)) or "no columns"
        raise DataError(f"{origin}: needs a column 'image', 'text' or 'texts'; found: {found}")


def strings(column: pa.ChunkedArray, name: str, origin: str) -> pa.ChunkedArray:
    """Any scalar column as strings; whole numbers stay whole even where a gap made them floats."""
    kind = column.type
    if pa.types.is_string(kind):
        return column
    if pa.types.is_floating(kind):
        whole = pc.all(pc.equal(pc.floor(column), column)).as_py()
        column = column.cast(pa.int64()) if whole else column
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise DataError(f"{origin}: column '{name}' holds {kind}, expected text")
    return column.cast(pa.string())


def split_names(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Split names in lower case with the usual aliases resolved; unknown names stay to be reported."""
    encoded = pc.utf8_trim_whitespace(pc.utf8_lower(column)).unify_dictionaries().dictionary_encode()
    chunks = []
    for chunk in encoded.chunks:
        names = [SPLIT_ALIASES.get(name, name) for name in chunk.dictionary.to_pylist()]
        chunks.append(pa.array(names, pa.string()).take(chunk.indices))
    return pa.chunked_array(chunks, pa.string())


def single_lists(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Each string as a list of one, a null as an empty list; the text itself is not copied."""
    chunks = []
    for chunk in column.chunks:
        present = np.asarray(chunk.is_valid())
        offsets = np.concatenate([[0], np.cumsum(present)]).astype(np.int32)
        values = chunk if present.all() else chunk.drop_null()
        chunks.append(pa.ListArray.from_arrays(pa.array(offsets), values))
    return pa.chunked_array(chunks, LISTS)


def _nulls(raw: pa.Table, kind: pa.DataType) -> pa.ChunkedArray:
    return pa.chunked_array([pa.nulls(raw.num_rows, kind)], kind)


def _string_column(raw: pa.Table, name: str, origin: str) -> pa.ChunkedArray:
    if name not in raw.column_names:
        return _nulls(raw, pa.string())
    return strings(raw.column(name), name, origin)


def _blank_to_null(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)


def _ids(raw: pa.Table, lines: Int[np.ndarray, "rows"], origin: str) -> pa.ChunkedArray:
    """The rows' names; a row without one is named by its line."""
    names = _blank_to_null(_string_column(raw, "id", origin))
    if names.null_count == 0:
        return names
    made = pc.binary_join_element_wise("row", pa.array(lines).cast(pa.string()), "-")
    return pc.coalesce(names, pa.chunked_array([made]))


def _list_column(raw: pa.Table, name: str, origin: str) -> pa.ChunkedArray:
    """A column of lists of strings; a scalar column counts as lists of one."""
    if name not in raw.column_names:
        offsets = pa.array(np.zeros(raw.num_rows + 1, np.int32))
        return pa.chunked_array([pa.ListArray.from_arrays(offsets, pa.array([], pa.string()))])
    column = raw.column(name)
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        return single_lists(_blank_to_null(strings(column, name, origin)))
    values = pa.chunked_array([chunk.values for chunk in column.chunks], column.type.value_type)
    strings(values.slice(0, 0), name, origin)  # refuse nested lists before the cast
    return _without_nulls(column.cast(LISTS))


def _without_nulls(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Null lists as empty lists, and null entries out of their lists."""
    chunks = []
    for chunk in column.chunks:
        flat, parents = chunk.flatten(), np.asarray(pc.list_parent_indices(chunk))
        keep = np.asarray(flat.is_valid())
        counts = np.bincount(parents[keep], minlength=len(chunk))
        offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
        chunks.append(pa.ListArray.from_arrays(pa.array(offsets), flat.drop_null()))
    return pa.chunked_array(chunks, LISTS)


def _texts(raw: pa.Table, origin: str) -> pa.ChunkedArray:
    """`text` and `texts` as one list per row, `text` first, nothing said twice."""
    has = [name for name in ("text", "texts") if name in raw.column_names]
    if len(has) < 2:
        return _list_column(raw, has[0] if has else "texts", origin)
    first, rest = (_list_column(raw, name, origin).to_pylist() for name in has)
    merged = [list(dict.fromkeys(a + b)) for a, b in zip(first, rest, strict=True)]
    return pa.chunked_array([pa.array(merged, LISTS)])

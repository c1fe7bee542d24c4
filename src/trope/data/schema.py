"""The columns every data set has after reading, whatever file it came from.

`id`, `image`, `group`, `split`: string · `texts`, `labels`: list of string · then the extra
columns. All conversions work on whole Arrow columns.
"""

from __future__ import annotations

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


def canonical(raw: pa.Table, lines: Int[np.ndarray, " rows"], origin: str) -> pa.Table:
    """The table with the known columns in their one form; extra columns follow as they are."""
    columns = {
        "id": _ids(raw, lines, origin),
        "image": blank_to_null(_string_column(raw, "image", origin)),
        "texts": _texts(raw, origin),
        "labels": _list_column(raw, "labels", origin),
        "group": blank_to_null(_string_column(raw, "group", origin)),
        "split": split_names(blank_to_null(_string_column(raw, "split", origin))),
    }
    extras = [name for name in raw.column_names if name not in KNOWN]
    fields = [*SCHEMA, *(raw.schema.field(name) for name in extras)]
    arrays = [*(columns[name] for name in SCHEMA.names), *(raw.column(name) for name in extras)]
    return pa.table(arrays, schema=pa.schema(fields))


def strings(column: pa.ChunkedArray, name: str, origin: str) -> pa.ChunkedArray:
    """Any scalar column as strings; whole numbers stay whole even where a gap made them floats."""
    kind = column.type
    if pa.types.is_string(kind):
        return column
    if pa.types.is_nested(kind) or "binary" in str(kind):
        raise DataError(f"{origin}: column '{name}' holds {kind}, expected text")
    try:
        return (_whole(column) if pa.types.is_floating(kind) else column).cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"{origin}: column '{name}' cannot be read as text ({error})") from None


def _whole(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Floats as whole numbers where all of them are; `NaN`, which table tools write, is a gap."""
    column = pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    try:
        return column.cast(pa.int64())  # a safe cast: any fraction or overflow is refused
    except pa.ArrowInvalid:
        return column


def split_names(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Split names in lower case, the usual aliases resolved; unknown names stay to be reported."""
    encoded = pc.utf8_trim_whitespace(pc.utf8_lower(column)).dictionary_encode()
    chunks = []
    for chunk in encoded.chunks:
        names = [SPLIT_ALIASES.get(name, name) for name in chunk.dictionary.to_pylist()]
        chunks.append(pa.array(names, pa.string()).take(chunk.indices))
    return pa.chunked_array(chunks, pa.string())


def single_lists(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Each string as a list of one, a null as an empty list; the text itself is not copied."""
    present = (np.asarray(chunk.is_valid()).astype(np.int64) for chunk in column.chunks)
    return pa.chunked_array(list(map(_lists, present, column.chunks)), LISTS)


def blank_to_null(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Empty strings as gaps; a column without any is returned as it is."""
    blank = pc.equal(column, "")
    return (
        pc.if_else(blank, pa.scalar(None, column.type), column) if pc.any(blank).as_py() else column
    )


def _lists(counts: Int[np.ndarray, " rows"], values: pa.Array) -> pa.ListArray:
    """Lists of the given lengths over the values that are not null."""
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    values = values.drop_null() if values.null_count else values
    return pa.ListArray.from_arrays(pa.array(offsets), values)


def _string_column(raw: pa.Table, name: str, origin: str) -> pa.ChunkedArray:
    if name not in raw.column_names:
        return pa.chunked_array([pa.nulls(raw.num_rows, pa.string())])
    return strings(raw.column(name), name, origin)


def _ids(raw: pa.Table, lines: Int[np.ndarray, " rows"], origin: str) -> pa.ChunkedArray:
    """The rows' names; a row without one is named by its line."""
    names = blank_to_null(_string_column(raw, "id", origin))
    if names.null_count == 0:
        return names
    made = pc.binary_join_element_wise("row", pa.array(lines).cast(pa.string()), "-")
    return pc.coalesce(names, pa.chunked_array([made]))


def _list_column(raw: pa.Table, name: str, origin: str) -> pa.ChunkedArray:
    """A column of lists of strings; a scalar column counts as lists of one."""
    if name not in raw.column_names:
        empty = _lists(np.zeros(raw.num_rows, np.int64), pa.array([], pa.string()))
        return pa.chunked_array([empty])
    column = raw.column(name)
    kind = column.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return pa.chunked_array([_listed(chunk, name, origin) for chunk in column.chunks], LISTS)
    return single_lists(blank_to_null(strings(column, name, origin)))


def _listed(chunk: pa.Array, name: str, origin: str) -> pa.ListArray:
    """Null lists as empty lists, null entries out of their lists, every entry as a string.

    Null labels stay, to be told when all labels are brought into one form.
    """
    lengths = np.asarray(pc.fill_null(pc.list_value_length(chunk), 0))
    parents = np.repeat(np.arange(len(chunk)), lengths)
    flat = strings(pa.chunked_array([chunk.flatten()]), name, origin).combine_chunks()
    if name == "labels" and flat.null_count:
        offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
        return pa.ListArray.from_arrays(pa.array(offsets), flat)
    kept = np.bincount(parents[np.asarray(flat.is_valid())], minlength=len(chunk))
    return _lists(kept, flat)


def _texts(raw: pa.Table, origin: str) -> pa.ChunkedArray:
    """`text` and `texts` as one list per row, `text` first, nothing said twice."""
    has = [name for name in ("text", "texts") if name in raw.column_names]
    if len(has) < 2:
        return _list_column(raw, has[0] if has else "texts", origin)
    first, rest = (_list_column(raw, name, origin).to_pylist() for name in has)
    merged = [a + [text for text in b if text not in a] for a, b in zip(first, rest, strict=True)]
    return pa.chunked_array([pa.array(merged, LISTS)])

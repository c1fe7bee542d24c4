"""A digest of what columns say: the same for the same cells, however they lie in memory."""

from __future__ import annotations

import hashlib

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trope.data.documents import dumps

BLOCK = 2**12


def fingerprint(table: pa.Table) -> str:
    """A digest of the names, types and cells of a table."""
    digest = hashlib.blake2b(digest_size=16)
    for name, column in zip(table.column_names, table.columns, strict=True):
        digest.update(dumps([name, str(column.type), len(column)]))
        for start in range(0, len(column), BLOCK):
            feed(digest, pa.concat_arrays(column.slice(start, BLOCK).chunks))
    return digest.hexdigest()


def feed(digest: hashlib.blake2b, array: pa.Array) -> None:
    """Which cells are gaps, then what the others say; never what lies in memory under a gap."""
    digest.update(np.packbits(np.asarray(array.is_valid())).tobytes())
    array = array.drop_null() if array.null_count else array
    kind = array.type
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        _feed_lengths(digest, pc.binary_length(array))
        offsets = np.frombuffer(array.buffers()[1], np.int32)[array.offset :][: len(array) + 1]
        if len(array):
            digest.update(array.buffers()[2][int(offsets[0]) : int(offsets[-1])] or b"")
    elif pa.types.is_list(kind):
        _feed_lengths(digest, pc.list_value_length(array))
        feed(digest, array.flatten())
    elif pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind):
        digest.update(np.ascontiguousarray(array.to_numpy(zero_copy_only=False)).tobytes())
    else:
        digest.update(dumps(array.to_pylist()))


def _feed_lengths(digest: hashlib.blake2b, lengths: pa.Array) -> None:
    digest.update(np.asarray(lengths).astype(np.int64).tobytes())

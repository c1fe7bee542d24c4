"""Arrow stream files over mapped memory, looked over before use: a wrong offset kills a process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from trope.errors import DataError


def map_arrow(files: Sequence[Path], column: str | None = None) -> list[pa.Table]:
    """Arrow stream files as tables over mapped memory, nothing copied; only `column` if named.

    Every offset is made sure of. The bytes of pictures and texts stay unread: whether a text is
    UTF-8 is for each row to answer.
    """
    return [_mapped(path, column) for path in files]


def _mapped(path: Path, column: str | None) -> pa.Table:
    try:
        table = pa.ipc.open_stream(pa.memory_map(str(path))).read_all()
    except (OSError, pa.ArrowException) as error:
        raise DataError(f"{path}: not an Arrow stream file ({_line(error)})") from None
    if column is not None:
        if table.column_names.count(column) != 1:
            raise DataError(f"{path}: has no column '{column}', or several")
        table = table.select([column])
    for name, values in zip(table.column_names, table.columns, strict=True):
        _look_over(values, f"{path}: column '{name}'")
    return table


def _look_over(values: pa.ChunkedArray, what: str) -> None:
    """Refuse offsets that go back or beyond, and indices of dictionary entries that are not there.

    Texts are taken for plain bytes: a text that is not UTF-8 would hide what comes after it.
    """
    try:
        values.validate()  # shallow: the buffers are as long as they must be
        for chunk in values.chunks:
            chunk.view(_as_bytes(chunk.type)).validate(full=True)
    except pa.ArrowException as error:
        raise DataError(f"{what} is damaged ({_line(error)})") from None


def _as_bytes(kind: pa.DataType) -> pa.DataType:
    """The type of the same memory with bytes for texts."""
    if pa.types.is_string(kind):
        return pa.binary()
    if pa.types.is_large_string(kind):
        return pa.large_binary()
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_as_bytes(field.type)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_as_bytes(kind.value_type)))
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_as_bytes(kind.value_type)))
    return kind


def _line(error: Exception) -> str:
    return (str(error).strip() or type(error).__name__).splitlines()[0]

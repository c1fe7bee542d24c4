"""Tables as CSV or TSV: cells are read as bytes, so that one bad cell costs one row, not the file."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as arrow_csv
from jaxtyping import Int

from trope.data.readers.opened import Opened
from trope.data.rejects import Rejects
from trope.data.schema import KNOWN, LISTS, canonical, require
from trope.data.stores import FolderImages
from trope.errors import DataError

LABEL_SEPARATOR = "|"
NUMBER = r"^-?(0|[1-9]\d{0,17})(\.\d+)?([eE][-+]?\d{1,3})?$"


def read(path: Path, rejects: Rejects) -> Opened:
    """Read a CSV with a header; `labels` cells are split at `|`, `texts` cells are JSON lists."""
    names, delimiter = _header(path)
    require(names, str(path))
    cells = _cells(path, names, delimiter, rejects)
    lines = np.arange(2, len(cells) + 2)
    good, texts = _decoded(cells, lines, rejects)
    lines = lines[good]
    columns = [_column(name, texts.column(name)) for name in names]
    table = canonical(pa.table(columns, names=names), lines, str(path))
    return Opened(table, lines, FolderImages(path.parent, table.column("image")))


def _header(path: Path) -> tuple[list[str], str]:
    with path.open("rb") as handle:
        start = handle.readline(2**20)
    try:
        line = start.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"{path}: not a UTF-8 text table") from None
    if "\x00" in line:
        raise DataError(f"{path}: binary content, not a text table")
    delimiter = max(",;\t|", key=line.count) if path.suffix != ".tsv" else "\t"
    names = [name.strip() for name in next(csv.reader([line], delimiter=delimiter), [])]
    if repeated := {name for name in names if names.count(name) > 1}:
        raise DataError(f"{path}: column {sorted(repeated)[0]!r} appears twice")
    return names, delimiter


def _cells(path: Path, names: list[str], delimiter: str, rejects: Rejects) -> pa.Table:
    """All cells as bytes; a row with too many or too few cells is rejected."""

    def unfit(row: arrow_csv.InvalidRow) -> str:
        reason = f"{row.actual_columns} cells where the header has {row.expected_columns}"
        rejects.add(row.number or 0, reason, row.text)
        return "skip"

    try:
        return arrow_csv.read_csv(
            path,
            arrow_csv.ReadOptions(column_names=names, skip_rows=1, use_threads=False),
            arrow_csv.ParseOptions(
                delimiter=delimiter, newlines_in_values=True, invalid_row_handler=unfit
            ),
            arrow_csv.ConvertOptions(column_types=dict.fromkeys(names, pa.binary())),
        )
    except pa.ArrowInvalid as error:
        raise DataError(f"{path}: not a table ({error})") from None


def _decoded(
    cells: pa.Table, lines: Int[np.ndarray, "rows"], rejects: Rejects
) -> tuple[Int[np.ndarray, "good"], pa.Table]:
    """The rows whose cells are all UTF-8, as strings; an empty cell is a gap."""
    bad: dict[int, str] = {}
    for name in cells.column_names:
        try:
            cells.column(name).cast(pa.string())
        except pa.ArrowInvalid:
            bad |= {i: name for i, cell in enumerate(cells.column(name)) if not _utf8(cell.as_py())}
    for i, name in sorted(bad.items()):
        rejects.add(int(lines[i]), f"'{name}' is not UTF-8 text", repr(cells.slice(i, 1).to_pylist()))
    good = np.setdiff1d(np.arange(len(cells)), np.fromiter(bad, np.int64, len(bad)))
    kept = cells.take(pa.array(good)) if bad else cells
    columns = [_gaps(column.cast(pa.string())) for column in kept.columns]
    return good, pa.table(columns, names=cells.column_names)


def _utf8(cell: bytes | None) -> bool:
    try:
        (cell or b"").decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _gaps(column: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.if_else(pc.equal(column, ""), pa.scalar(None, pa.string()), column)


def _column(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    if name == "labels":
        return _labels(column)
    if name == "texts":
        return _json_lists(column)
    return column if name in KNOWN else _numbers(column)


def _labels(column: pa.ChunkedArray) -> pa.ChunkedArray:
    parts = pc.split_pattern(pc.coalesce(column, ""), LABEL_SEPARATOR).to_pylist()
    trimmed = [[label for part in cell if (label := part.strip())] for cell in parts]
    return pa.chunked_array([pa.array(trimmed, LISTS)])


def _json_lists(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Cells such as `["one text", "another"]`; a cell that is no JSON list is one text."""
    return pa.chunked_array([pa.array([_texts(cell) for cell in column.to_pylist()], LISTS)])


def _texts(cell: str | None) -> list[str]:
    if cell is None or not cell.startswith("["):
        return [] if cell is None else [cell]
    try:
        values = orjson.loads(cell)
    except orjson.JSONDecodeError:
        return [cell]
    return [str(value) for value in values if value is not None]


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """A column of plainly written numbers as numbers; `007` and `1,5` stay as they were written."""
    if column.null_count == len(column) or not pc.all(pc.match_substring_regex(column, NUMBER)).as_py():
        return column
    whole = pc.all(pc.match_substring_regex(column, r"^-?\d+$")).as_py()
    return column.cast(pa.int64() if whole else pa.float64())

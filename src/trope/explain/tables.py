"""Tables of all pairs beside a page: for a spreadsheet and for programs."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet

from trope.files import replacing


def write_tables(folder: Path, name: str, table: pa.Table) -> None:
    """The same rows as CSV and as Parquet."""
    with replacing(folder / f"{name}.csv") as file:
        pyarrow.csv.write_csv(table, file)
    with replacing(folder / f"{name}.parquet") as file:
        pyarrow.parquet.write_table(table, file)

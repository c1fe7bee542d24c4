"""Tables as Parquet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from trope.data import naming
from trope.data.readers.opened import Opened
from trope.data.readers.validity import readable
from trope.data.rejects import Rejects
from trope.data.schema import canonical
from trope.data.stores import FolderImages
from trope.errors import DataError

BATCH = 2**16


def read(path: Path, rejects: Rejects, mapping: naming.Columns) -> Opened:
    """Read a Parquet file; columns keep their types."""
    try:
        with path.open("rb") as handle, pq.ParquetFile(handle, pre_buffer=False) as file:
            names = naming.meant(file.schema_arrow.names, mapping, str(path))
            naming.require(names, str(path), mapping)
            batches = list(file.iter_batches(BATCH))  # less memory at the peak than all at once
            raw = pa.Table.from_batches(batches, file.schema_arrow)
    except PermissionError:
        raise
    except (pa.ArrowException, OSError) as error:
        raise DataError(f"{path}: not a readable Parquet file ({error})") from None
    raw, lines = readable(raw.rename_columns(names), np.arange(1, len(raw) + 1), rejects)
    table = canonical(raw, lines, str(path))
    return Opened(table, lines, FolderImages(path.parent, table.column("image")))

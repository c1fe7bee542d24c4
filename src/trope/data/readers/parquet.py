"""Tables as Parquet."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from trope.data.readers.opened import Opened
from trope.data.rejects import Rejects
from trope.data.schema import canonical, require
from trope.data.stores import FolderImages
from trope.errors import DataError


def read(path: Path, rejects: Rejects) -> Opened:
    """Read a Parquet file; columns keep their types."""
    try:
        require(pq.read_schema(path).names, str(path))
        raw = pq.read_table(path, memory_map=True)
    except (pa.ArrowInvalid, OSError) as error:
        raise DataError(f"{path}: not a Parquet file ({error})") from None
    lines = np.arange(1, len(raw) + 1)
    table = canonical(raw, lines, str(path))
    return Opened(table, lines, FolderImages(path.parent, table.column("image")))

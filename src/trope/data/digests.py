"""What a picture's bytes are called: a content digest per row, remembered so that no file is read twice."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from jaxtyping import Shaped

from trope.data.pairs import Pairs
from trope.errors import DataError
from trope.files import locked, replacing
from trope.runtime import cache_folder, cores, progress

WIDTH = 16  # bytes of a digest

Digests = Shaped[np.ndarray, "rows"]  # dtype S16; empty for a row whose picture cannot be read


def digest(data: bytes) -> bytes:
    """The name of a picture's content."""
    return hashlib.blake2b(data, digest_size=WIDTH).digest()

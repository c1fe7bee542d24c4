"""What every reader returns."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from jaxtyping import Int

from trope.data.stores import ImageStore


@dataclass(frozen=True)
class Opened:
    """A data set's columns in canonical form, the line of each row, its pictures, and remarks."""

    table: pa.Table
    lines: Int[np.ndarray, " rows"]
    images: ImageStore
    remarks: tuple[str, ...] = ()

"""What a backbone is to the cache: a name for its weights, and pixels in, features out."""

from __future__ import annotations

from typing import Literal, Protocol, TypeAlias, get_args, runtime_checkable

import numpy as np
from jaxtyping import Float, UInt8

Kind: TypeAlias = Literal["pooled", "grid", "tokens"]
GRID = 7  # cells a side
KINDS: tuple[Kind, ...] = get_args(Kind)

VERSION = 1  # raised when the same network and pixels come to give other features

Pixels: TypeAlias = UInt8[np.ndarray, "images size size 3"]
Features: TypeAlias = Float[np.ndarray, "images ..."]


@runtime_checkable
class Backbone(Protocol):
    """A frozen network: `pooled` is one vector a picture, `grid` 7x7 cells, `tokens` all it has."""

    @property
    def name(self) -> str:
        """What users call it."""
        ...

    @property
    def size(self) -> int:
        """Height and width of the pictures it takes."""
        ...

    def fingerprint(self) -> str:
        """What changes when its weights or its preparation of pixels change; nothing is loaded."""
        ...

    def encode(self, pixels: Pixels, kind: Kind) -> Features:
        """Features of decoded pictures: (d) as 32-bit, (49 d) or (t d) as 16-bit floats."""
        ...

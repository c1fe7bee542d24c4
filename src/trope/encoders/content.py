"""What an encoder found in items before a head places them: a whole, and parts to attend to."""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Bool, Float
from torch import Tensor, nn


@dataclass(frozen=True)
class Content:
    """One vector per item, and vectors of its parts (cells, words); `present` marks real parts."""

    whole: Float[Tensor, "n h"]
    parts: Float[Tensor, "n l c"] | None = None
    present: Bool[Tensor, "n l"] | None = None


class Encoder(nn.Module):
    """From inputs to content; says how long the vectors of wholes and of parts are."""

    whole: int
    part: int

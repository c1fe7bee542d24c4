"""Features of texts' tokens without padding: flat arrays on disk, and where each text begins.

A few long texts do not make the short ones long: what is kept and read is what texts have.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped

from trope.features.shards import Places

Counts: TypeAlias = Int[np.ndarray, " texts"]
Padded: TypeAlias = Float[np.ndarray, "texts longest d"]


@dataclass(frozen=True, eq=False)
class Ragged:
    """The tokens of texts one after the other, and how many each text has."""

    values: Float[np.ndarray, "tokens d"]
    counts: Counts

    @classmethod
    def of(cls, padded: Padded) -> Ragged:
        """From tokens with zeros after the last of each text."""
        present = padded.any(axis=2)
        return cls(padded[present], present.sum(axis=1))

    def __len__(self) -> int:
        return len(self.counts)

    @property
    def nbytes(self) -> int:
        """What the values take."""
        return self.values.nbytes


@dataclass(frozen=True, eq=False)
class TokenTable:
    """Text i has `counts[i]` tokens of `size` numbers, from `starts[i]` on in `parts[part[i]]`."""

    size: int
    parts: tuple[Shaped[np.ndarray, "_tokens d"], ...] = field(repr=False)
    part: Counts = field(repr=False)
    starts: Counts = field(repr=False)
    counts: Counts = field(repr=False)

    @classmethod
    def of(cls, tokens: Ragged) -> TokenTable:
        """From tokens in memory."""
        starts = np.cumsum(tokens.counts) - tokens.counts
        size = tokens.values.shape[1]
        return cls(size, (tokens.values,), np.zeros_like(starts), starts, tokens.counts)

    @classmethod
    def stored(cls, found: Places) -> TokenTable:
        """Mapped from files of tokens, of which every text has been found."""
        used, part = np.unique(found.part, return_inverse=True)
        shards = [found.parts[i] for i in used]
        starts, counts = np.zeros((2, len(part)), np.int64)
        for i, shard in enumerate(shards):
            mine = np.flatnonzero(part == i)
            ends = np.cumsum(shard.sizes)
            counts[mine] = shard.sizes[found.offset[mine]]
            starts[mine] = ends[found.offset[mine]] - counts[mine]
        parts = tuple(shard.features() for shard in shards)
        return cls(parts[0].shape[1] if parts else 0, parts, part, starts, counts)

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, texts: Int[np.ndarray, " some"]) -> TokenTable:
        """The same for some texts, in the given order."""
        chosen = (values[texts] for values in (self.part, self.starts, self.counts))
        return TokenTable(self.size, self.parts, *chosen)

    def read(
        self, texts: Int[np.ndarray, " some"]
    ) -> tuple[Float[np.ndarray, "some longest d"], Bool[np.ndarray, "some longest"]]:
        """The tokens of some texts, up to the longest of them, and which are real; zeros are not.

        There is at least one place, real or not.
        """
        part, starts, counts = self.part[texts], self.starts[texts], self.counts[texts]
        place = np.arange(max(int(counts.max(initial=0)), 1))
        present = place < counts[:, None]
        values = np.zeros((*present.shape, self.size), np.float16)
        for i in np.unique(part):
            mine = present & (part == i)[:, None]
            values[mine] = self.parts[i][(starts[:, None] + place)[mine]]
        return values, present

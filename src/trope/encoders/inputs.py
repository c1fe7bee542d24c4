"""What encoders are fed: tensors of chosen items, from memory or from mapped files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float, Int, Shaped
from torch import Tensor

from trope.data.vocabulary import PAD
from trope.features import FeatureTable
from trope.features.tokens import TokenTable

Items: TypeAlias = Int[np.ndarray, " _items"]  # several side by side, each of its own length
Tensors: TypeAlias = tuple[Tensor, ...]

IN_MEMORY = 2**31  # bytes of features that are read at once rather than batch by batch


@runtime_checkable
class Inputs(Protocol):
    """The items of one modality, by number."""

    def __len__(self) -> int: ...

    def batches(self, chosen: Iterable[Items], epoch: int | None) -> Iterator[Tensors]:
        """What the encoder takes for each choice of items; `epoch` is None outside training."""
        ...


@dataclass(frozen=True, eq=False)
class Rows:
    """A tensor with a row per item."""

    values: Shaped[Tensor, "items ..."]

    def __len__(self) -> int:
        return len(self.values)

    def batches(self, chosen: Iterable[Items], epoch: int | None) -> Iterator[Tensors]:
        """The chosen rows."""
        for items in chosen:
            yield (self.values[torch.from_numpy(items)],)


@dataclass(frozen=True, eq=False)
class Tokens:
    """Features of each text's tokens, read as they are needed."""

    table: TokenTable

    def __len__(self) -> int:
        return len(self.table)

    def batches(self, chosen: Iterable[Items], epoch: int | None) -> Iterator[Tensors]:
        """The tokens of the chosen texts, up to the longest of them, and which are real."""
        for items in chosen:
            values, present = self.table.read(items)
            yield torch.from_numpy(values), torch.from_numpy(present)


@dataclass(frozen=True, eq=False)
class Mapped:
    """Features on disk, read as they are needed."""

    table: FeatureTable

    def __len__(self) -> int:
        return len(self.table)

    def batches(self, chosen: Iterable[Items], epoch: int | None) -> Iterator[Tensors]:
        """The features of the chosen pictures."""
        for items in chosen:
            yield (torch.from_numpy(self.table.read(items)),)


@dataclass(frozen=True, eq=False)
class Boxed:
    """Regions of pictures with the place of each, all of them real."""

    regions: Rows | Mapped
    boxes: Float[Tensor, "items regions 5"]

    def __len__(self) -> int:
        return len(self.regions)

    def batches(self, chosen: Iterable[Items], epoch: int | None) -> Iterator[Tensors]:
        """The features of the chosen pictures, which are real, and their boxes."""
        items = [np.asarray(some) for some in chosen]
        for some, (values,) in zip(items, self.regions.batches(items, epoch), strict=True):
            real = torch.ones(values.shape[:2], dtype=torch.bool)
            yield values, real, self.boxes[torch.from_numpy(some)]


def stored(table: FeatureTable) -> Rows | Mapped:
    """Features by position: in memory where they fit, else mapped."""
    size = len(table) * int(np.prod(table.shape)) * table.dtype.itemsize
    return Rows(torch.from_numpy(table.all())) if size <= IN_MEMORY else Mapped(table)


@dataclass(frozen=True, eq=False)
class Words:
    """Texts as numbers of words, one after the other; text i is `flat[starts[i]:starts[i + 1]]`."""

    flat: Int[np.ndarray, " tokens"]
    starts: Int[np.ndarray, " bounds"]

    @classmethod
    def of(cls, texts: Iterable[Int[np.ndarray, " _tokens"]]) -> Words:
        """From the numbers of each text."""
        parts = list(texts)
        sizes = [len(part) for part in parts]
        flat = np.concatenate([np.empty(0, np.int64), *parts])
        return cls(flat, np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def batches(self, chosen: Iterable[Items], epoch: int | None) -> Iterator[Tensors]:
        """Padded numbers and lengths of the chosen texts."""
        for items in chosen:
            yield self._padded(items)

    def _padded(self, items: Items) -> Tensors:
        starts = self.starts[items]
        lengths = self.starts[items + 1] - starts
        place = np.arange(max(int(lengths.max(initial=0)), 1))
        real = place < lengths[:, None]
        ids = np.full(real.shape, PAD, np.int64)
        ids[real] = self.flat[(starts[:, None] + place)[real]]
        return torch.from_numpy(ids), torch.from_numpy(lengths)

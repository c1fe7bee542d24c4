"""What every engine of an index can do, wherever it keeps its items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias, runtime_checkable

import numpy as np
import pyarrow as pa
from jaxtyping import Float32, Shaped

from trope.index.details import Details
from trope.index.filters import Filter
from trope.index.folder import State
from trope.index.items import Items, Modality, Vectors

Queries: TypeAlias = Float32[np.ndarray, "queries senses d"]


@dataclass(frozen=True, eq=False)
class Found:
    """The nearest items of each query, nearest first; None, infinitely unlike, fills up."""

    ids: Shaped[np.ndarray, "queries k"]
    scores: Float32[np.ndarray, "queries k"]


@runtime_checkable
class Engine(Protocol):
    """Items by id. An item and a query may have several senses: the best of all pairs counts.

    Vectors have length one, so that a score is a cosine. Whoever reads sees a state as a whole:
    the one before a write or the one after it.
    """

    state: State  # the one that was opened

    @property
    def schema(self) -> pa.Schema:
        """The columns of the items' lines."""
        ...

    def count(self, modality: Modality) -> int:
        """How many pictures or texts there are."""
        ...

    def add(
        self,
        ids: Sequence[str],
        vectors: Vectors,
        rows: pa.Table,
        instead_of: Sequence[str] = (),
        details: Details | None = None,
    ) -> None:
        """Put items in; those with the same ids, and those of `instead_of`, go in the same step."""
        ...

    def nearest(
        self, vectors: Queries, k: int, modality: Modality, where: Filter | None = None
    ) -> Found:
        """The k items of a modality that are most like each query, among those that pass."""
        ...

    def get(self, ids: Sequence[str]) -> Items:
        """Items by id, in the order asked; one that is not there is refused."""
        ...

    def find(self, where: Filter, most: int | None = None) -> list[str]:
        """The ids of all items that pass a filter, or of so many of them."""
        ...

    def remove(self, ids: Sequence[str]) -> int:
        """Take items out; how many of the ids were there."""
        ...

    def close(self) -> None:
        """Let go of files and connections."""
        ...

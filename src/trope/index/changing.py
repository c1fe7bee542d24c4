"""A part of an index after a change, written beside the one before."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

import numpy as np
import pyarrow as pa

from trope.errors import DataError
from trope.index.folder import PartState, State
from trope.index.items import Items, Modality, joined
from trope.index.parts import Part, Places, empty, read_part, write_part
from trope.index.settings import IndexSettings

Finish: TypeAlias = Callable[[Part, IndexSettings], Part]


@dataclass(frozen=True)
class Change:
    """Items that go from a state, by id; `finish` gives a part all it needs to be searched."""

    folder: Path
    state: State
    gone: pa.Array
    finish: Finish

    def refuse_unlike(self, rows: pa.Table) -> None:
        """A column holds the same of pictures and of texts: else nobody could filter by it."""
        kind, olds = self.state.details, self.state.parts.values()
        parts = [read_part(self.folder, old, kind) for old in olds]
        try:
            _fitting(parts, rows)
        except DataError:
            _fitting([part for part in parts if self._stays(part)], rows)

    def written(
        self, parts: dict[str, PartState], modality: Modality, new: Items | None = None
    ) -> int:
        """Put a changed part among `parts`, its files written; how many items went."""
        old = self.state.parts.get(modality)
        if old is None and not new:
            return 0
        part = self._read(old)
        places = _unique(part, self.gone)
        if not len(places) and not new:
            return 0
        part = part.without(places) if len(places) else part
        wasteful = _wasteful(part, self.state.settings)
        part = part.compacted() if wasteful else part
        part = part.with_items(new) if new else part
        same = not wasteful and not new
        part = part if same else self.finish(part, self.state.settings)
        files = old.files if old else {}
        parts[modality] = write_part(self.folder, modality, part, files, same=same)
        return len(places)

    def _read(self, old: PartState | None) -> Part:
        if old is None:
            return empty(self.state.senses, self.state.size)
        return read_part(self.folder, old, self.state.details, mapped=False)

    def _stays(self, part: Part) -> bool:
        return len(_unique(part, self.gone)) < len(part)


def _fitting(parts: Sequence[Part], rows: pa.Table) -> None:
    joined([*(part.rows.schema.empty_table() for part in parts), rows.schema.empty_table()])


def _unique(part: Part, gone: pa.Array) -> Places:
    """Where the items are that go."""
    places = np.unique(part.places(gone))
    return places[places >= 0]


def _wasteful(part: Part, settings: IndexSettings) -> bool:
    dead = len(part.senses) - len(part)
    return dead > settings.compact * len(part.senses)

"""What a scorer needs of items on a server: in files of the index's folder, by the items' names.

Names have one length and are kept in order, so that the few hundred items of a search are found
among millions without reading more than a few of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TypeAlias

import numpy as np
from jaxtyping import Shaped

from trope.errors import DataError
from trope.files import write_array
from trope.index.details import Details
from trope.index.folder import PartState, State, verified, write_file
from trope.index.milvus.entities import name_of
from trope.index.segments import read_details, write_details

PART, NAMES = "both", "names"  # of both modalities, as one
WIDTH = "S16"

Names: TypeAlias = Shaped[np.ndarray, " _items"]


@dataclass(frozen=True, eq=False)
class Named:
    """Details of items; `names` are theirs, in order."""

    names: Names = field(repr=False)
    details: Details

    def of(self, ids: Sequence[str]) -> Details:
        """Those of some items; nothing is read but names."""
        wanted = names_of(ids)
        places = np.searchsorted(self.names, wanted)
        there = places < len(self.names)
        there[there] = self.names[places[there]] == wanted[there]
        if not there.all():
            lost = ids[int(np.flatnonzero(~there)[0])]
            raise DataError(f"nothing to compare item '{lost}' by; build the index anew")
        return self.details.take(places)

    def changed(
        self, gone: Sequence[str], ids: Sequence[str], more: Details | None, compact: float
    ) -> Named:
        """Without some items, and then with others."""
        stays = np.isin(self.names, names_of(gone), invert=True)
        details = _tidy(self.details.take(stays), compact)
        details = details if more is None else details.with_items(more)
        names = np.concatenate([self.names[stays], names_of(ids)])
        order = np.argsort(names)
        return Named(names[order], details.take(order))


def names_of(ids: Sequence[str]) -> Names:
    """What items are known by."""
    return np.array([bytes.fromhex(name_of(key)) for key in ids], WIDTH)


def read_named(folder: Path, state: State) -> Named | None:
    """From the files of a state; None where its items have vectors alone."""
    if not state.details:
        return None
    if (part := state.parts.get(PART)) is None:
        return Named(names_of([]), Details(state.details, np.empty((0, 2), np.int64), ()))
    at = {kind: verified(folder, file) for kind, file in part.files.items()}
    try:
        names = np.asarray(np.load(at[NAMES], mmap_mode="r", allow_pickle=False))
        details = read_details(at, state.details)
    except (KeyError, ValueError) as error:
        raise DataError(f"{folder}: damaged, or not made by trope ({error})") from None
    assert details is not None
    return Named(names, details)


def write_named(folder: Path, named: Named, old: PartState | None) -> PartState:
    """New files for what is not in one yet."""
    files = write_details(folder, PART, named.details, old.files if old else {})
    files[NAMES] = write_file(folder, PART, NAMES, lambda file: write_array(file, named.names))
    return PartState(len(named.names), 0, files)


def _tidy(details: Details, compact: float) -> Details:
    """To be written anew, where more than a share of the rows are nobody's any more."""
    used = int(np.unique(details.spots, axis=0)[:, 1].sum())
    held = int(details.starts[-1])
    return replace(details, kept=0) if held - used > compact * held else details

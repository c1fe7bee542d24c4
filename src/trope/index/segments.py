"""Details of items in files of an index: where each item's rows are, and the rows in segments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO

import numpy as np

from trope.files import write_array
from trope.index.details import Details, Kind
from trope.index.folder import File, write_file

SPOTS, SEGMENT = "spots", "segment"
MOST = 16  # segments, before they are written as one


def read_details(at: Mapping[str, Path], kind: Kind) -> Details | None:
    """From the files of a part by kind; rows are mapped, and read when they are asked for."""
    if SPOTS not in at:
        return None
    spots = np.load(at[SPOTS], allow_pickle=False)
    paths = [at[_name(i)] for i in range(_count(at))]
    found = [np.load(path, mmap_mode="r", allow_pickle=False) for path in paths]
    return Details(kind, spots, tuple(map(np.asarray, found)), len(found))


def write_details(
    folder: Path, stem: str, details: Details, old: Mapping[str, File]
) -> dict[str, File]:
    """New files for what is not in one yet; of segments that stay, the old ones."""
    kept = details.kept if details.kept < MOST else 0
    files = {_name(i): old[_name(i)] for i in range(kept)}
    first = int(details.starts[kept])
    fresh = details.spots[:, 0] >= first
    spots, number = np.unique(details.spots[fresh], axis=0, return_inverse=True)
    if len(spots):
        rows = replace(details, spots=spots)
        files[_name(kept)] = write_file(folder, stem, SEGMENT, lambda file: _write(file, rows))
    moved = details.spots.copy()
    starts = first + np.cumsum(spots[:, 1]) - spots[:, 1]
    moved[fresh] = np.stack([starts, spots[:, 1]], axis=1)[number.ravel()]
    files[SPOTS] = write_file(folder, stem, SPOTS, lambda file: write_array(file, moved))
    return files


def _write(file: IO[bytes], details: Details) -> None:
    """The rows of items as one array, however many there are."""
    like = details.segments[0]
    shape = (int(details.spots[:, 1].sum()), like.shape[1])
    kind = np.lib.format.dtype_to_descr(like.dtype)
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(file, header)
    for rows in details.runs():
        file.write(np.ascontiguousarray(rows).data)


def _name(number: int) -> str:
    return f"{SEGMENT}{number}"


def _count(at: Mapping[str, Path]) -> int:
    return sum(kind.startswith(SEGMENT) for kind in at)

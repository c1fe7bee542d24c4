"""Results query by query in a Parquet file, for analysis."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from trope.errors import UsageError
from trope.evaluation.gallery import Gallery
from trope.evaluation.measuring import DIRECTIONS, Measurements
from trope.files import refuse_unwritable, replacing

MARK = {b"trope": b"queries-1"}
RANKS = ("mean-rank", "median-rank")  # of one query the same, and a column of their own


def refuse_foreign(path: Path) -> None:
    """Write over nothing but a file of queries that was written here, and where it can be."""
    refuse_unwritable(path)
    if not path.exists():
        return
    try:
        known = not path.is_dir() and (pq.read_schema(path).metadata or {}).get(b"trope")
    except (OSError, pa.ArrowException):
        known = None
    if known != MARK[b"trope"]:
        raise UsageError(f"{path}: exists and is no file of queries; name another with --queries")


def write_queries(path: Path, runs: Mapping[str, Measurements]) -> None:
    """A row for every query of every run, a column for every metric; empty where it counts not.

    All that is counted (texts of a row, ranks, folds) is counted from 1.
    """
    refuse_foreign(path)
    tables = [
        _direction(name, found, direction)
        for name, found in runs.items()
        for direction in DIRECTIONS
    ]
    table = pa.concat_tables(tables, promote_options="default").replace_schema_metadata(MARK)
    with replacing(path) as file:
        pq.write_table(table, file)


def _direction(run: str, found: Measurements, direction: str) -> pa.Table:
    gallery, side = found.gallery, DIRECTIONS[direction]
    count = gallery.count(side)
    values = found.values[direction]
    rank = values.get("mean-rank", values.get("median-rank", np.full(count, np.nan)))
    values = {name: some for name, some in values.items() if name not in RANKS}
    values |= found.values.get(side, {})  # of the query's own modality
    columns: dict[str, pa.Array] = {
        "run": pa.array([run] * count).dictionary_encode(),
        "direction": pa.array([direction] * count).dictionary_encode(),
        "query": pa.array(gallery.names_of(side)),
        "text": _texts(gallery) if side == "text" else pa.nulls(count, pa.int64()),
        "cluster": pa.array(gallery.clusters_of(side)),
        "rank": _numbers(rank),
    }
    if found.folds is not None:
        numbers = found.folds[side]
        columns["fold"] = pa.array(numbers + 1, mask=numbers < 0)
    return pa.table(columns | {name: _numbers(some) for name, some in values.items()})


def _texts(gallery: Gallery) -> pa.Array:
    """Which text of its row a query is, from 1."""
    return pa.array(gallery.places + 1)


def _numbers(values: np.ndarray) -> pa.Array:
    return pa.array(values, mask=np.isnan(values))

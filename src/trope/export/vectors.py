"""The vectors of an index in files that other programs read: Parquet with all columns, or NumPy.

The NumPy file (`.npz`) is what `trope evaluate --embeddings` takes: `image` (n d) or (n k d),
`text` the same, and `image_ids`, `text_ids`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from trope.errors import UsageError
from trope.files import replacing
from trope.index import Engine, Items, open_engine
from trope.index.filters.tree import Compare
from trope.index.items import MODALITIES, MODALITY, Modality
from trope.runtime import progress_bar, remark

BLOCK = 4_096  # items at a time
VECTOR = "vector"  # the column of the vectors
KINDS = (".parquet", ".npz")


def export_vectors(index: Path, out: Path) -> int:
    """Write the items of an index; how many."""
    if out.suffix not in KINDS:
        raise UsageError(f"{out}: name a file that ends in {' or '.join(KINDS)}")
    engine = open_engine(index)
    try:
        return (_parquet if out.suffix == ".parquet" else _numpy)(engine, out)
    finally:
        engine.close()


def _blocks(engine: Engine, modality: Modality) -> Iterator[Items]:
    keys = engine.find(Compare(MODALITY, "=", modality)) if engine.count(modality) else []
    with progress_bar(f"vectors of {modality}s", len(keys)) as bar:
        for start in range(0, len(keys), BLOCK):
            items = engine.get(keys[start : start + BLOCK])
            yield items
            bar.advance(bar.task_ids[0], len(items))


def _parquet(engine: Engine, out: Path) -> int:
    """A line for each item, its vectors in the column `vector`, or `trope.vector`."""
    kind, name = pa.list_(pa.list_(pa.float32())), _free(engine.schema, out)
    schema = engine.schema.append(pa.field(name, kind))
    count = 0
    with replacing(out) as file, pq.ParquetWriter(file, schema) as writer:
        for modality in MODALITIES:
            for items in _blocks(engine, modality):
                rows = pa.concat_tables(
                    [engine.schema.empty_table(), items.rows], promote_options="permissive"
                )
                vectors = pa.array(list(map(list, items.vectors)), kind)
                writer.write_table(rows.append_column(name, vectors).cast(schema))
                count += len(items)
    return count


def _free(schema: pa.Schema, out: Path) -> str:
    """A name for the vectors that no column of the data has: those have none with `trope.`."""
    if VECTOR not in schema.names:
        return VECTOR
    remark(f"{out}: the data has a column '{VECTOR}'; vectors are in the column 'trope.{VECTOR}'")
    return f"trope.{VECTOR}"


def _numpy(engine: Engine, out: Path) -> int:
    arrays: dict[str, np.ndarray] = {}
    for modality in MODALITIES:
        blocks = list(_blocks(engine, modality))
        if blocks:
            vectors = np.concatenate([items.vectors for items in blocks])
            arrays[modality] = vectors[:, 0] if vectors.shape[1] == 1 else vectors
            names = [name for items in blocks for name in items.rows.column("id").to_pylist()]
            arrays[f"{modality}_ids"] = np.array(names)
    with replacing(out) as file:
        np.savez(file, allow_pickle=False, **arrays)
    return sum(len(arrays[modality]) for modality in MODALITIES if modality in arrays)

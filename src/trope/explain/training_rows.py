"""Doc2Vec learns from training rows: where there are none, splits are made as always."""

from __future__ import annotations

import pyarrow.compute as pc

from trope.data.pairs import Pairs
from trope.data.splits import SplitPlan, split


def with_training_rows(pairs: Pairs, space: str, seed: int) -> tuple[Pairs, tuple[str, ...]]:
    """The rows, with splits where a space needs them, and what was done."""
    train = pc.sum(pc.equal(pairs.column("split"), "train")).as_py()
    if space != "doc2vec" or train or not len(pairs):
        return pairs, ()
    made, report = split(pairs, SplitPlan(seed=seed))
    return made, (f"no row was in split 'train': {report.rows['train']:,} were put there",)

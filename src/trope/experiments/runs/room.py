"""Whether a split is large enough for what is measured on it, asked before anything is trained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.compute as pc

from trope import config
from trope.data.pairs import Pairs
from trope.data.readers import open
from trope.data.splits import split
from trope.errors import UsageError
from trope.experiments.runs.plan import Variant
from trope.training import load_recipe
from trope.wording import counted


def refuse_ways(data: Path, variant: Variant, part: str, ways: int) -> None:
    """Refuse a task of more items than a split has pictures."""
    there = _room(data, variant, part)
    if ways > there:
        has = f"split '{part}' has {counted(there, 'picture')}"
        raise UsageError(f"--set ways={ways}: {has}, the largest task is {there}-way")


def refuse_small(data: Path, variant: Variant, part: str, cut: int, folds: int = 0) -> None:
    """Refuse a `cut` or `folds` for which a split has too few pictures."""
    there = _room(data, variant, part)
    has = f"split '{part}' has {counted(there, 'picture')}"
    if cut >= there:
        fits = f"choose fewer than {there:,}, or cut=0 for all items"
        raise UsageError(f"--set cut={cut}: {has}, of which the first {cut:,} are all; {fits}")
    if folds > there:
        raise UsageError(f"--set folds={folds}: {has}; choose fewer, or folds=0 for no folds")
    if folds and cut >= folds:
        fits = f"choose more than {cut:,}, or folds=0 for no folds"
        raise UsageError(f"--set folds={folds}: the first {cut:,} (cut) are all of a fold; {fits}")


def _room(data: Path, variant: Variant, part: str) -> int:
    """Pictures of a split by name, which takes no decoding: there are at most so many."""
    plan = config.override(load_recipe(variant.recipe), variant.sets).split
    return _pictures(split(variant.taken(open(data)), plan)[0].in_split(part))


def _pictures(rows: Pairs) -> int:
    """How many pictures, or features in place of them, there are at most."""
    named = pc.count_distinct(rows.column("image"), mode="only_valid").as_py()
    if "image_feature" not in rows.table.column_names:
        return int(named)
    features = np.asarray(rows.column("image_feature").is_valid()) & ~rows.has_image
    return int(named + features.sum())

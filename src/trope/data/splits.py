"""Train, validation and test rows that share nothing: whole components go to one side.

The largest component goes first, each into the split furthest below its share; ties in size are
ordered by the seed. Rows that already have a split keep it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from jaxtyping import Float, Int, Shaped

from trope.data.components import components
from trope.data.digests import image_digests
from trope.data.pairs import Pairs
from trope.data.schema import split_names, strings
from trope.errors import DataError, UsageError
from trope.runtime import generator
from trope.types import SPLITS

Components = Int[np.ndarray, " rows"]
Parts = Int[np.ndarray, " rows"]  # positions in SPLITS, −1 where a row has no split


@dataclass(frozen=True)
class SplitPlan:
    """How rows without a split get one: shares of train, val and test, or an existing column.

    Two pictures are the same by their bytes (`content`), which reads every file once, or by `path`.
    With `again`, splits that rows already have are forgotten and all rows are split anew.
    """

    fractions: tuple[float, float, float] = (0.8, 0.1, 0.1)
    seed: int = 0
    column: str | None = None
    images: Literal["content", "path"] = "content"
    again: bool = False

    def __post_init__(self) -> None:
        if self.again and self.column:
            raise ValueError("again splits anew, so that column has nothing to say")
        if len(self.fractions) != len(SPLITS):
            raise ValueError(f"fractions {self.fractions} must be three shares: train, val, test")
        if not (min(self.fractions) >= 0 and abs(sum(self.fractions) - 1) <= 1e-6):
            raise ValueError(f"fractions {self.fractions} must be shares that add up to 1")
        if self.fractions[0] <= 0:
            raise ValueError("the share of train must be above 0")


@dataclass(frozen=True)
class SplitReport:
    """What the splits came out as."""

    rows: dict[str, int]
    made: str
    components: int
    largest: int
    undecided: int

    @property
    def shares(self) -> dict[str, float]:
        """Rows of each split as a share of all that have one."""
        total = sum(self.rows.values()) or 1
        return {name: count / total for name, count in self.rows.items()}


def split(
    pairs: Pairs, plan: SplitPlan, digests: Shaped[np.ndarray, " rows"] | None = None
) -> tuple[Pairs, SplitReport]:
    """The rows with every missing split filled in, and what came of it."""
    parts = given_parts(pairs, plan)
    _refuse_idle(pairs, parts, plan)
    belongs = row_components(pairs, plan.images, digests)
    made = "as given"
    if (parts < 0).any():
        made = "for all rows" if (parts < 0).all() else "for the rows that had none"
        parts = _fill(parts, belongs, plan)
    if plan.fractions[1] > 0 and not (parts == 1).any() and (parts == 0).any():
        cut = _cut_val(parts, belongs, plan)
        made = "as given, val cut from train" if made == "as given" and (cut == 1).any() else made
        parts = cut
    names = pa.array(SPLITS).take(pa.array(parts, mask=parts < 0))
    return pairs.with_column("split", names), _report(parts, belongs, made)


def assign(
    belongs: Components,
    fractions: tuple[float, ...],
    seed: int,
    filled: tuple[int, ...] | None = None,
) -> Parts:
    """The part each row goes to, whole components at a time, on top of what is `filled` already.

    Components of one size are interchangeable, so each size is placed at once: the k-th of them
    that a part takes stands at the level `share - rows - size * k`, and the highest levels win.
    """
    rows = np.array(filled or (0,) * len(fractions), np.int64)
    target = np.array(fractions) * (len(belongs) + rows.sum())
    sizes = np.bincount(belongs)
    order = generator(seed, "splits").permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]
    part = np.empty(len(sizes), np.int64)
    for size, start, count in _runs(sizes[order]):
        chosen = _highest(target, rows, size, count)
        part[order[start : start + count]] = chosen
        rows += size * np.bincount(chosen, minlength=len(fractions))
    return np.asarray(part[belongs], dtype=np.int64)


def folds(
    pairs: Pairs, k: int, seed: int = 0, images: Literal["content", "path"] = "content"
) -> Parts:
    """A fold number per row for k-fold cross-validation; refused where a component is too large."""
    if k < 2:
        raise ValueError(f"k = {k}: cross-validation needs at least 2 folds")
    belongs = row_components(pairs, images)
    largest = int(np.bincount(belongs).max(initial=0))
    if largest > len(pairs) / k:
        raise DataError(
            f"{pairs.source}: {k} folds hold at most {len(pairs) // k} rows each, but {largest} "
            f"rows ({largest / len(pairs):.0%}) are tied together by shared groups, images or texts"
        )
    return assign(belongs, (1 / k,) * k, seed)


def row_components(
    pairs: Pairs, images: str, digests: Shaped[np.ndarray, " rows"] | None = None
) -> Components:
    """The components of rows, with the pictures' digests where content counts."""
    if images == "content" and digests is None:
        digests = image_digests(pairs).values
    return components(pairs, digests)


def _runs(sizes: Int[np.ndarray, " components"]) -> Iterator[tuple[int, int, int]]:
    """Size, start and length of each run of equal sizes."""
    starts = np.flatnonzero(np.diff(sizes, prepend=-1))
    for start, stop in zip(starts, [*starts[1:], len(sizes)], strict=True):
        yield int(sizes[start]), int(start), int(stop - start)


def _highest(
    target: Float[np.ndarray, " parts"], rows: Int[np.ndarray, " parts"], size: int, count: int
) -> Int[np.ndarray, " count"]:
    """Which part takes each of `count` components of one size, in the order they are placed."""
    levels = target[:, None] - (rows[:, None] + size * np.arange(count))
    best = np.argsort(-levels.ravel(), kind="stable")[:count]
    return np.asarray(best // count, dtype=np.int64)


def given_parts(pairs: Pairs, plan: SplitPlan) -> Parts:
    """The splits the data set came with, from its own column or the one the plan names."""
    column = pairs.column("split")
    if plan.again:
        return np.full(len(pairs), -1)
    if plan.column:
        column = split_names(strings(pairs.column(plan.column), plan.column, str(pairs.source)))
    found = [name for name in pc.unique(column).to_pylist() if name is not None]
    if unknown := sorted(set(found) - set(SPLITS)):
        names = ", ".join(unknown[:5])
        raise DataError(f"{pairs.source}: splits are named train, val or test; found: {names}")
    positions = pc.fill_null(pc.index_in(column, value_set=pa.array(SPLITS)), -1)
    return np.asarray(positions, dtype=np.int64)


def _refuse_idle(pairs: Pairs, parts: Parts, plan: SplitPlan) -> None:
    """Shares that somebody has chosen are not passed over because all splits are there already."""
    settled = (parts >= 0).all() and (parts == 1).any()
    if settled and tuple(plan.fractions) != SplitPlan.fractions:
        raise UsageError(
            f"{pairs.source}: the rows have splits already, so that fractions {plan.fractions} "
            "would change nothing; again=true splits anew"
        )


def _fill(parts: Parts, belongs: Components, plan: SplitPlan) -> Parts:
    """Rows without a split join their component's; components without any fill up the shares.

    A row tied to two splits at once can join neither without a leak: it stays without a split.
    """
    given = np.zeros((int(belongs.max()) + 1, len(SPLITS)), bool)
    given[belongs[parts >= 0], parts[parts >= 0]] = True
    known = given.sum(1)
    joined = np.where(known == 1, given.argmax(1), -1)[belongs]
    parts = np.where(parts >= 0, parts, joined)
    free = np.flatnonzero(known[belongs] == 0)
    if len(free):
        _, local = np.unique(belongs[free], return_inverse=True)
        filled = tuple(int((parts == part).sum()) for part in range(len(SPLITS)))
        parts[free] = assign(local, plan.fractions, plan.seed, filled)
    return parts


def _cut_val(parts: Parts, belongs: Components, plan: SplitPlan) -> Parts:
    rows = np.flatnonzero(parts == 0)
    _, local = np.unique(belongs[rows], return_inverse=True)
    train, val, _ = plan.fractions
    cut = assign(local, (train / (train + val), val / (train + val)), plan.seed)
    parts = parts.copy()
    parts[rows[cut == 1]] = 1
    return parts


def _report(parts: Parts, belongs: Components, made: str) -> SplitReport:
    rows = {name: int((parts == i).sum()) for i, name in enumerate(SPLITS)}
    sizes = np.bincount(belongs)
    undecided = int((parts < 0).sum())
    return SplitReport(rows, made, len(sizes), int(sizes.max(initial=0)), undecided)

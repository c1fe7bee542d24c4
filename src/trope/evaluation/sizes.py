"""What a gallery is large enough for: tasks of c items, and recall among the first K."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from trope.errors import UsageError
from trope.evaluation.folds import Fold
from trope.evaluation.gallery import Side
from trope.evaluation.measuring import DIRECTIONS
from trope.evaluation.selection import Request
from trope.evaluation.settings import EvaluationSettings
from trope.metrics import recall, tasks
from trope.wording import counted

TASK = re.compile(r"(?:recall@\d+|mean-rank)/(\d+)-way")
CUT = re.compile(r"recall@(\d+)")


@dataclass(frozen=True)
class Room:
    """The fewest items that a query of a direction has, and the fewest wrong ones."""

    direction: str
    items: int
    wrong: int

    def lacks(self, name: str) -> str:
        """Why a metric is not to be had, and which is; nothing where it is."""
        if (task := TASK.fullmatch(name)) and int(task[1]) - 1 > self.wrong:
            fits = f"{self.wrong + 1}-way" if self.wrong else "none at all"
            has = f"a query has only {counted(self.wrong, 'wrong item')}"
            return f"{self.direction}, {has}; the largest task is {fits}"
        if (cut := CUT.fullmatch(name)) and int(cut[1]) >= self.items:
            there = f"there are only {counted(self.items, 'item')}"
            return f"{self.direction}, {there}; the largest is recall@{self.items - 1}"
        return ""


def rooms_of(folds: Sequence[Fold]) -> list[Room]:
    """How large the galleries of both directions are; of folds, the smallest."""
    return [_room(name.replace("_", " "), side, folds) for name, side in DIRECTIONS.items()]


def refuse_oversized(rooms: Sequence[Room], wanted: Request, settings: EvaluationSettings) -> None:
    """Sizes that somebody has named must fit: tasks in both directions, recall in one at least."""
    for name in sorted(wanted.names):
        lacking = [why for room in rooms if (why := room.lacks(name))]
        if lacking and (TASK.fullmatch(name) or len(lacking) == len(rooms)):
            raise UsageError(f"--metrics {name}: the gallery is too small: {lacking[-1]}")
    if wanted.families & {"recall/c-way", "mean-rank/c-way"}:
        for ways in settings.ways or ():
            for room in rooms:
                if why := room.lacks(f"mean-rank/{ways}-way"):
                    raise UsageError(f"--ways {ways}: the gallery is too small: {why}")


def too_small_for(rooms: Sequence[Room], wanted: Request, settings: EvaluationSettings) -> str:
    """A remark on what the usual metrics, and named recalls, lack in some direction."""
    names: list[str] = sorted(filter(CUT.fullmatch, wanted.names))
    if "recall" in wanted.families:
        names += [f"recall@{k}" for k in recall.CUTS]
    if "recall/c-way" in wanted.families and not settings.ways:
        names += [f"recall@1/{ways}-way" for ways in tasks.WAYS]
    lacking = [_among(name, rooms) for name in names if any(r.lacks(name) for r in rooms)]
    return f"left out, the gallery is too small: {', '.join(lacking)}" if lacking else ""


def _among(name: str, rooms: Sequence[Room]) -> str:
    """A metric that is lacking; with the direction where it is so in one alone."""
    where = [room.direction for room in rooms if room.lacks(name)]
    return name if len(where) == len(rooms) else f"{name} ({where[0]})"


def _room(direction: str, side: Side, folds: Sequence[Fold]) -> Room:
    right = [fold.right if side == "image" else fold.right.T.tocsr() for fold in folds]
    return Room(
        direction,
        min(one.shape[1] for one in right),
        min(int(one.shape[1] - np.diff(one.indptr).max(initial=0)) for one in right),
    )

"""What a gallery is large enough for: tasks of c items, the first K, neighborhoods of k."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from trope.errors import UsageError
from trope.evaluation.folds import Fold
from trope.evaluation.gallery import Gallery, Side
from trope.evaluation.measuring import DIRECTIONS
from trope.evaluation.selection import Request
from trope.evaluation.settings import EvaluationSettings
from trope.metrics import ndcg, recall, tasks
from trope.wording import counted

TASK = re.compile(r"(?:recall@\d+|mean-rank)/(\d+)-way")
CUT = re.compile(r"(recall|ndcg|gain)@(\d+)((?:/[a-z].*)?)")
NEAR = re.compile(r"preservation@(\d+)")
TASKS = ("recall/c-way", "mean-rank/c-way")


@dataclass(frozen=True)
class Ranking:
    """The fewest items that a query of a direction has, and the fewest wrong ones."""

    name: str
    items: int
    wrong: int

    @property
    def least(self) -> int:
        """How few there are to choose from."""
        return self.wrong

    def lacks(self, metric: str) -> str:
        """Tasks need wrong items; the first K must not be all."""
        if (task := TASK.fullmatch(metric)) and int(task[1]) - 1 > self.wrong:
            fits = f"{self.wrong + 1}-way" if self.wrong else "none at all"
            has = f"a query has only {counted(self.wrong, 'wrong item')}"
            return f"{self.name}, {has}; the largest task is {fits}"
        if (cut := CUT.fullmatch(metric)) and int(cut[2]) >= self.items:
            there = f"there are only {counted(self.items, 'item')}"
            return f"{self.name}, {there}; the largest is {cut[1]}@{self.items - 1}{cut[3]}"
        return ""


@dataclass(frozen=True)
class Neighborhood:
    """The fewest others that an item of a modality may have as neighbors."""

    name: str
    least: int

    def lacks(self, metric: str) -> str:
        """Where all others are neighbors, all are preserved."""
        if (near := NEAR.fullmatch(metric)) and int(near[1]) >= self.least:
            fits = f"preservation@{self.least - 1}" if self.least > 1 else "none at all"
            return f"{self.name}, there are only {self.least:,} others; the largest is {fits}"
        return ""


Room: TypeAlias = Ranking | Neighborhood


def rooms_of(gallery: Gallery, folds: Sequence[Fold]) -> list[Room]:
    """How large the galleries of both directions are, of folds the smallest; and the modalities."""
    sides = ((name.replace("_", " "), side) for name, side in DIRECTIONS.items())
    directions = [_ranking(name, side, folds) for name, side in sides]
    alike = gallery.meaning, gallery.owners  # texts that are the same, or of one picture
    same = max(np.unique(code, return_counts=True)[1].max() for code in alike)
    others = {"images": len(gallery.images) - 1, "texts": len(gallery.texts) - int(same)}
    return [*directions, *(Neighborhood(name, least) for name, least in others.items())]


def refuse_oversized(rooms: Sequence[Room], wanted: Request, settings: EvaluationSettings) -> None:
    """Sizes that somebody has named must fit: tasks in both directions, others in one at least."""
    for option, name in _named(wanted, settings):
        lacking = [room for room in rooms if room.lacks(name)]
        if lacking and (TASK.fullmatch(name) or len(lacking) == len(DIRECTIONS)):
            why = min(lacking, key=lambda room: room.least).lacks(name)
            raise UsageError(f"{option}: the gallery is too small: {why}")


def too_small_for(rooms: Sequence[Room], wanted: Request, settings: EvaluationSettings) -> str:
    """A remark on what the usual metrics, and named ones, lack in some direction."""
    named = [name for _, name in _named(wanted, settings)]
    lacking: dict[str, list[str]] = defaultdict(list)
    for name in dict.fromkeys([*named, *_usual(wanted, settings)]):
        where = [room.name for room in rooms if room.lacks(name)]
        if where:
            lacking["both directions" if len(where) > 1 else where[0]].append(name)
    parts = [f"{', '.join(names)} ({where})" for where, names in lacking.items()]
    return f"left out, the gallery is too small: {'; '.join(parts)}" if parts else ""


def ways_of(names: Iterable[str]) -> list[int]:
    """The sizes of the tasks among some metrics."""
    return sorted({int(task[1]) for name in names if (task := TASK.fullmatch(name))})


def _named(wanted: Request, settings: EvaluationSettings) -> Iterator[tuple[str, str]]:
    """The metrics whose sizes somebody has named, each with the option that did."""
    yield from ((f"--metrics {name}", name) for name in sorted(wanted.names))
    if wanted.families & set(TASKS):
        yield from ((f"--ways {ways}", f"mean-rank/{ways}-way") for ways in settings.ways or ())
    if "preservation" in wanted.families and (k := settings.neighbors) is not None:
        yield f"--set neighbors={k}", f"preservation@{k}"


def _usual(wanted: Request, settings: EvaluationSettings) -> Iterator[str]:
    """The metrics that families stand for where nobody has named a size."""
    cuts = set(recall.CUTS if "recall" in wanted.families else ())
    cuts |= set(recall.SUMMED if "rsum" in wanted.families else ())
    yield from (f"recall@{k}" for k in sorted(cuts))
    if "ndcg" in wanted.families:
        yield from (f"ndcg@{k}" for k in ndcg.CUTS if k is not None)
    for ways in () if settings.ways else tasks.WAYS:
        if "recall/c-way" in wanted.families:
            yield from (f"recall@{k}/{ways}-way" for k in tasks.CUTS)
        if "mean-rank/c-way" in wanted.families:
            yield f"mean-rank/{ways}-way"


def _ranking(direction: str, side: Side, folds: Sequence[Fold]) -> Ranking:
    right = [fold.right if side == "image" else fold.right.T.tocsr() for fold in folds]
    return Ranking(
        direction,
        min(one.shape[1] for one in right),
        min(int(one.shape[1] - np.diff(one.indptr).max(initial=0)) for one in right),
    )

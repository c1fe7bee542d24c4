"""Data without the labels that an experiment is about, refused before anything is trained."""

from __future__ import annotations

from collections.abc import Iterable

from trope.data.labels import label_names
from trope.data.pairs import Pairs
from trope.errors import DataError
from trope.training.selection import unequal
from trope.training.task import Task


def refuse_unlabeled(pairs: Pairs, part: str) -> None:
    """Of pairs that have their splits: the one that is measured must have labels."""
    if not label_names(pairs.in_split(part)):
        raise DataError(
            f"{pairs.source}: no row of split '{part}' has labels, which this experiment is about"
        )


def refuse_unselected(pairs: Pairs, task: Task, seeds: Iterable[int]) -> None:
    """Pages say that NDCG on validation has chosen epochs: labels must be able to."""
    why = "" if task.labels is None else next(filter(None, (unequal(task, s) for s in seeds)), "")
    if why:
        raise DataError(
            f"{pairs.source}: split 'val': {why}; this experiment chooses epochs by labels that "
            "differ from pair to pair"
        )

"""Runs, the runs they are compared with, and the data that all are asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from trope import config
from trope.checkpoints import load_model
from trope.data.readers import open as open_pairs
from trope.errors import UsageError
from trope.evaluation.answers import Answers
from trope.evaluation.arrays import are_vectors
from trope.evaluation.comparison import LEAST
from trope.evaluation.job import (
    TEST,
    answers_of_files,
    answers_of_runs,
    evaluated,
    split_named,
)
from trope.evaluation.measuring import Measurements
from trope.evaluation.results import Compared, Evaluation, compared
from trope.evaluation.runs import data_of
from trope.evaluation.settings import EvaluationSettings
from trope.runtime import provenance

Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class Rivals:
    """Runs on the other side, and how ours differ from them."""

    names: tuple[str, ...]
    answers: tuple[Answers, ...] = field(repr=False)
    differences: Compared
    margin: float  # of shares, within which two sides are equal

    def document(self) -> dict[str, Any]:
        """As plain values."""
        sides = {
            side: {name: asdict(found) for name, found in differences.items()}
            for side, differences in self.differences.items()
        }
        about = {"run": _one(self.names), "margin": self.margin, **_resolved(self.answers)}
        return about | sides


@dataclass(frozen=True, eq=False)
class Contest:
    """What was evaluated on what, and against whom."""

    names: tuple[str, ...]
    data: str
    split: str
    settings: EvaluationSettings
    answers: tuple[Answers, ...] = field(repr=False)
    evaluation: Evaluation
    rivals: tuple[Rivals, ...] = ()

    @property
    def measurements(self) -> dict[str, Measurements]:
        """Every run's numbers, by its name."""
        sides = [(self.names, self.answers), *((r.names, r.answers) for r in self.rivals)]
        return {
            name: one.measurements
            for names, answers in sides
            for name, one in zip(names, answers, strict=True)
        }

    def document(self) -> dict[str, Any]:
        """As plain values, with all settings and how they came about; what is not known is null."""
        split = self.split if self.data else None
        about = {"run": _one(self.names), "data": self.data or None, "split": split}
        against = [rivals.document() for rivals in self.rivals]
        made = {"config": config.plain(self.settings), **_resolved(self.answers)}
        made |= {"provenance": provenance()}
        found = self.evaluation.document() | about | ({"against": against} if against else {})
        return found | made


def contest(
    runs: Sequence[Path],
    against: Sequence[Path] = (),
    files: Sequence[Path] = (),
    data: Path | None = None,
    split: str = TEST,
    settings: EvaluationSettings | None = None,
) -> Contest:
    """Evaluate runs, or vectors in files, and compare them with others on the same queries.

    `against` are runs, or files of vectors.
    """
    settings = settings or EvaluationSettings()
    split_named(split)
    _refuse_unclear(runs, against, files)
    if settings.margin != LEAST and not against:
        raise UsageError("--set margin: changes nothing without --against")
    trained = [path for path in (*runs, *against) if not are_vectors(path)]
    like = trained[0] if trained else None  # whose queries all are asked
    where = data or (data_of(like, load_model(like)) if like else None)
    pairs = None if where is None else open_pairs(where)
    alone = files if len(files) == 1 else ()
    asked: dict[Path, Answers] = {}  # what is named on both sides answers once
    for path in (*runs, *alone, *against):
        if path.resolve() not in asked:
            asked[path.resolve()] = (
                answers_of_files(path, pairs, split, settings, like)
                if path in alone or are_vectors(path)
                else answers_of_runs(path, pairs, split, settings)[0]
            )
    ours = [asked[path.resolve()] for path in (*runs, *alone)]
    if not ours:  # pictures and texts in files of their own
        ours = [answers_of_files(files, pairs, split, settings, like)]
    names = tuple(map(str, runs)) if runs else (" + ".join(map(str, files)),)
    others = {str(path): asked[path.resolve()] for path in against}
    found = evaluated(dict(zip(names, ours, strict=True)), others)
    sides = [list(against)] if len(runs) > 1 and against else [[path] for path in against]
    rivals = [
        _rivals(ours, side, [asked[path.resolve()] for path in side], settings.margin)
        for side in sides
    ]
    source = "" if where is None else str(where)
    return Contest(names, source, split, settings, tuple(ours), found, tuple(rivals))


def _rivals(
    ours: Sequence[Answers], paths: Sequence[Path], theirs: Sequence[Answers], margin: float
) -> Rivals:
    left, right = ([one.measurements for one in side] for side in (ours, theirs))
    differences = compared(left, right, ours[0].wanted, margin)
    return Rivals(tuple(map(str, paths)), tuple(theirs), differences, margin)


def _refuse_unclear(runs: Sequence[Path], against: Sequence[Path], files: Sequence[Path]) -> None:
    """Who is asked, and who is compared with whom, must be plain from the command line."""
    if bool(runs) == bool(files):
        raise UsageError("name a run, or vectors with --embeddings" + ("; not both" * bool(runs)))
    for run in runs:
        if are_vectors(run):
            raise UsageError(f"{run}: vectors, not a run; name them with --embeddings")
    for path in against:
        if path.suffix == ".npy":
            raise UsageError(f"--against {path}: put 'image' and 'text' into one .npz file")
    for side in (runs, against):
        places = [path.resolve() for path in side]
        for path in side:
            if places.count(path.resolve()) > 1:
                raise UsageError(f"{path}: named twice on the same side, which tells nothing more")
    if len(runs) > 1 and against and len(against) != len(runs):
        raise UsageError(
            f"--against: {len(runs)} runs are compared with as many others, the first with the "
            f"first; found {len(against)}"
        )


def _resolved(answers: Sequence[Answers]) -> dict[str, Any]:
    """The settings that were left open, as each run has them."""
    return {"resolved": _one([dict(one.resolved) for one in answers])}


def _one(each: Sequence[Value]) -> Value | list[Value]:
    return each[0] if len(each) == 1 else list(each)

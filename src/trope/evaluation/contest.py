"""Runs, the runs they are compared with, and the data that all are asked about."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from trope.checkpoints import load_model
from trope.data.readers import open as open_pairs
from trope.errors import UsageError
from trope.evaluation.answers import Answers
from trope.evaluation.job import answers_of_files, answers_of_runs, evaluated
from trope.evaluation.measuring import Measurements
from trope.evaluation.results import Compared, Evaluation, compared
from trope.evaluation.runs import data_of
from trope.evaluation.settings import EvaluationSettings


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
        return {"run": _one(self.names), "margin": self.margin, **sides}


@dataclass(frozen=True, eq=False)
class Contest:
    """What was evaluated on what, and against whom."""

    names: tuple[str, ...]
    data: str
    split: str
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
        """As plain values; numbers that are not known are null."""
        about = {"run": _one(self.names), "data": self.data or None, "split": self.split}
        against = [rivals.document() for rivals in self.rivals]
        return self.evaluation.document() | about | ({"against": against} if against else {})


def contest(
    runs: Sequence[Path],
    against: Sequence[Path],
    files: Sequence[Path],
    data: Path | None,
    split: str,
    settings: EvaluationSettings,
) -> Contest:
    """Evaluate runs, or vectors in files, and compare them with others on the same queries."""
    _refuse_unclear(runs, against, files)
    known = runs or against
    where = data or (data_of(known[0], load_model(known[0])) if known else None)
    pairs = None if where is None else open_pairs(where)
    asked: dict[Path, Answers] = {}  # a run that is named twice answers once
    for run in (*runs, *against):
        if run.resolve() not in asked:
            (asked[run.resolve()],) = answers_of_runs(run, pairs, split, settings)
    if files:
        like = against[0] if against else None
        ours = [answers_of_files(files, pairs, split, settings, like)]
    else:
        ours = [asked[run.resolve()] for run in runs]
    sides = [list(against)] if len(runs) > 1 and against else [[path] for path in against]
    rivals = [
        _rivals(ours, side, [asked[run.resolve()] for run in side], settings.margin)
        for side in sides
    ]
    names = tuple(map(str, runs or [Path(" + ".join(map(str, files)))]))
    others = {str(run): asked[run.resolve()] for run in against}
    return Contest(
        names,
        "" if where is None else str(where),
        split,
        tuple(ours),
        evaluated(dict(zip(names, ours, strict=True)), others),
        tuple(rivals),
    )


def _rivals(
    ours: Sequence[Answers], paths: Sequence[Path], theirs: Sequence[Answers], margin: float
) -> Rivals:
    left, right = ([one.measurements for one in side] for side in (ours, theirs))
    differences = compared(left, right, ours[0].wanted, margin)
    return Rivals(tuple(map(str, paths)), tuple(theirs), differences, margin)


def _refuse_unclear(runs: Sequence[Path], against: Sequence[Path], files: Sequence[Path]) -> None:
    if bool(runs) == bool(files):
        raise UsageError("name a run, or vectors with --embeddings" + ("; not both" * bool(runs)))
    if len(runs) > 1 and against and len(against) != len(runs):
        raise UsageError(
            f"--against: {len(runs)} runs are compared with as many others, the first with the "
            f"first; found {len(against)}"
        )


def _one(names: Sequence[str]) -> str | list[str]:
    return names[0] if len(names) == 1 else list(names)

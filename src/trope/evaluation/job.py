"""Whole evaluations: of a model on pairs, of runs in folders, of vectors in files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

from trope import config
from trope.checkpoints import Checkpoint
from trope.data.digests import image_digests
from trope.data.pairs import Pairs
from trope.data.readers import open as open_pairs
from trope.data.schema import SPLIT_ALIASES
from trope.data.splits import SplitPlan
from trope.data.splits import split as split_pairs
from trope.errors import UsageError, suggestion
from trope.evaluation.answers import Answers, answers
from trope.evaluation.arrays import read_arrays
from trope.evaluation.asked import refuse_other_queries
from trope.evaluation.embeddings import FileSource
from trope.evaluation.fed import fed
from trope.evaluation.results import Evaluation, summarized
from trope.evaluation.runs import RunSource, open_run
from trope.evaluation.settings import EvaluationSettings
from trope.evaluation.trained import refuse_broken, unfinished
from trope.types import SPLITS

Place: TypeAlias = str | PathLike[str]

TEST = "test"  # the split that is meant where none is named

_NONE: Mapping[str, Answers] = MappingProxyType({})


def evaluate(
    checkpoint: Checkpoint, pairs: Pairs, split: str = TEST, **settings: Any
) -> Evaluation:
    """A model on the pairs of a split; the rows must have their splits."""
    source = RunSource(checkpoint, pairs)
    return evaluated({"": answers(source, split_named(split), settings_from(**settings))})


def evaluate_run(
    run: Place | Sequence[Place],
    data: Place | Pairs | None = None,
    split: str = TEST,
    **settings: Any,
) -> Evaluation:
    """A run in its folder; of several runs, the mean of their results, query by query.

    `data` is by default what the run was trained on. Rows are parted as they were then.
    """
    found = answers_of_runs(run, data, split, settings_from(**settings))
    return evaluated(dict(zip(map(str, _places(run)), found, strict=True)))


def evaluate_embeddings(
    files: Place | Sequence[Place],
    data: Place | Pairs | None = None,
    split: str = TEST,
    **settings: Any,
) -> Evaluation:
    """Vectors of any other model, on their own or for the rows of a data set."""
    return evaluated({"": answers_of_files(files, data, split, settings_from(**settings))})


def answers_of_runs(
    run: Place | Sequence[Place],
    data: Place | Pairs | None,
    split: str,
    settings: EvaluationSettings,
) -> list[Answers]:
    """The answers of each run to the queries of a split."""
    split = split_named(split)
    pairs = data if isinstance(data, Pairs) or data is None else open_pairs(Path(data))
    found = []
    for folder in _places(run):
        source, remarks = open_run(folder, pairs)
        refuse_broken(folder, source.checkpoint)
        stopped = unfinished(folder, source.checkpoint)
        found.append(answers(source, split, settings, stopped, remarks))
    return found


def answers_of_files(
    files: Place | Sequence[Place],
    data: Place | Pairs | None,
    split: str,
    settings: EvaluationSettings,
    like: Path | None = None,
) -> Answers:
    """The answers of vectors in files; to the queries of a run, if one is named."""
    split = split_named(split)
    arrays = read_arrays(_places(files))
    if data is None:
        if split != TEST:
            raise UsageError(f"--split {split}: changes nothing without --data, whose splits it is")
        return answers(FileSource(arrays), split, settings)
    pairs = data if isinstance(data, Pairs) else open_pairs(Path(data))
    if like is not None:
        run, _ = open_run(like, pairs)
        pictures = fed(run.checkpoint.plan, run.pairs, split).rows
        source = FileSource(arrays, run.pairs, pictures)
    else:
        named = image_digests(pairs).values
        source = FileSource(arrays, split_pairs(pairs, SplitPlan(), named)[0], digests=named)
    return answers(source, split, settings)


def evaluated(found: Mapping[str, Answers], others: Mapping[str, Answers] = _NONE) -> Evaluation:
    """Answers of one run, or of several with other seeds, summed up, by name.

    What is told of `others`, which they are compared with, is told too.
    """
    everyone = {**found, **others}
    refuse_other_queries({name: each.measurements.gallery for name, each in everyone.items()})
    told = _told({name: each.told for name, each in everyone.items()})
    remarks = _told({name: each.remarks for name, each in everyone.items()})
    measurements = [each.measurements for each in found.values()]
    return summarized(measurements, next(iter(found.values())).wanted, told, remarks)


def _told(lines: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    """What all say, once; what only some say, with their names."""
    ordered = dict.fromkeys(line for some in lines.values() for line in some)
    return tuple(
        said
        for line in ordered
        for said in (
            [line]
            if all(line in some for some in lines.values())
            else [f"{name}: {line}" for name, some in lines.items() if line in some]
        )
    )


def settings_from(**values: Any) -> EvaluationSettings:
    """Settings from plain values: `metrics="recall@1,asp"`, `ways=[5]`, `hubs="nnn"`."""
    known = {name: value for name, value in values.items() if value is not None}
    for name in ("metrics", "truth"):
        if isinstance(given := known.get(name), str):
            known[name] = [part for part in given.split(",") if part.strip()]
            if name == "metrics" and not known[name]:
                raise UsageError(f"--metrics '{given}': names none; leave it out for all")
    for name in ("metrics", "truth", "ways"):
        if name in known:
            known[name] = list(known[name])
    if isinstance(known.get("hubs"), str):
        known["hubs"] = {"method": known["hubs"]}
    return config.parse(EvaluationSettings, known, "evaluation")


def split_named(name: str) -> str:
    """A split by one of its names; others are refused before anything is read."""
    found = SPLIT_ALIASES.get(name, name)
    if found not in SPLITS:
        raise UsageError(f"--split {name}: no such split{suggestion(name, SPLITS)}")
    return found


def _places(given: Place | Sequence[Place]) -> list[Path]:
    return [Path(one) for one in ([given] if isinstance(given, (str, PathLike)) else given)]

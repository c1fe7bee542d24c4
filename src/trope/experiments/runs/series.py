"""All runs of an experiment: what is there already is used, the rest is trained, seed by seed."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any

from trope.data.pairs import Pairs
from trope.data.readers import open
from trope.data.splits import split
from trope.errors import DataError, TropeError
from trope.experiments.runs.measure import USUAL, Asked, LabelMeasure
from trope.experiments.runs.outcome import Outcome
from trope.experiments.runs.plan import Run, Variant, name, ordered, resolved
from trope.experiments.runs.pool import shared_out
from trope.experiments.runs.unlabeled import refuse_unlabeled, refuse_unselected
from trope.experiments.runs.work import Job, perform
from trope.runtime import console, cores
from trope.training import Recipe
from trope.training.task import prepare
from trope.wording import counted

Series = Mapping[str, Sequence[Outcome]]  # of each variant by name, one outcome a seed


def train_all(
    variants: Sequence[Variant],
    seeds: int,
    data: Path,
    parts: Path,
    *,
    part: str = "test",
    measure: Asked = USUAL,
    workers: int = 0,
    finished: bool = False,
) -> Series:
    """The outcomes of all variants, measured on the split `part`; no workers: one a core.

    With `finished` nothing is trained: it is made of the seeds that every variant has finished.
    """
    pairs = open(data)
    taken = {variant: variant.taken(pairs) for variant in variants}
    settings = {variant: resolved(variant, taken[variant]) for variant in variants}
    names = {
        run: name(run, settings[run.variant], taken[run.variant], part, measure)
        for run in ordered(variants, seeds)
    }
    jobs = [
        Job(run, data, part, parts / f"{named}.safetensors", measure)
        for run, named in names.items()
    ]
    known = {job.run: found for job in jobs if (found := Outcome.load(job.part))}
    if finished:
        return _complete(variants, known)
    missing = [job for job in jobs if job.run not in known]
    _prepare(pairs, {job.run.variant: settings[job.run.variant] for job in missing}, missing)
    _train(missing, known, workers or cores())
    return {v.name: [known[Run(v, seed)] for seed in range(seeds)] for v in variants}


def _complete(variants: Sequence[Variant], known: Mapping[Run, Outcome]) -> Series:
    """As many seeds, from the first on, as all variants have."""
    seeds = 0
    while all(Run(variant, seeds) in known for variant in variants):
        seeds += 1
    if not seeds:
        raise DataError("no seed is finished for all variants yet; run it without finished=true")
    return {v.name: [known[Run(v, seed)] for seed in range(seeds)] for v in variants}


def _prepare(pairs: Pairs, settings: Mapping[Variant, Recipe], jobs: Sequence[Job]) -> None:
    """Features, spaces and neighbors into the cache, once, before processes ask for them at once.

    Settings that do not fit together, or do not fit the data, are refused here too, and data
    without the labels by which it is to be measured.
    """
    seen = set()
    labeled = [job for job in jobs if isinstance(job.measure, LabelMeasure)]
    parts, seeds = {job.split for job in labeled}, {job.run.seed for job in labeled}
    for variant, recipe in settings.items():
        inputs = (recipe.image.encoder, recipe.image.backbone, recipe.text.encoder)
        words = (recipe.text.model, recipe.text.words, recipe.text.pretrained)
        wanted = (recipe.neighbors, str(recipe.loss), str(recipe.weight), recipe.daa)
        model = (recipe.head.parts, str(recipe.scorer))
        rows = (variant.rows, variant.share, variant.text)
        chosen = (inputs, words, model, *wanted, rows)
        if chosen not in seen:
            seen.add(chosen)
            taken = split(variant.taken(pairs), recipe.split)[0]
            for part in parts:
                refuse_unlabeled(taken, part)
            refuse_unselected(taken, prepare(taken, recipe, 0), seeds)


def _train(jobs: Sequence[Job], known: dict[Run, Outcome], workers: int) -> None:
    """Train what is missing and add it to what is known."""
    told = Told(len(jobs), min(workers, max(len(jobs), 1)))
    for run, outcome in known.items():
        told.learn(run, outcome)
    for job, wrong in shared_out(perform, jobs, told.workers):
        if wrong:
            raise TropeError(f"{job.run}: {wrong}")
        found = Outcome.load(job.part)
        if found is None:
            raise TropeError(f"{job.part}: written, and cannot be read")
        known[job.run] = found
        told.finished(job, found, [job.run for job in jobs if job.run not in known])


@dataclass
class Told:
    """A line for each finished run, with the time that is left."""

    total: int
    workers: int
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    started: float = field(default_factory=time.monotonic)

    def learn(self, run: Run, outcome: Outcome) -> None:
        """How long a run of its variant takes."""
        self.seconds[run.variant.name].append(float(outcome.about["seconds"]))

    def finished(self, job: Job, outcome: Outcome, left: Sequence[Run]) -> None:
        """Say so."""
        self.learn(job.run, outcome)
        about = outcome.about
        epochs = counted(about["epochs"], "epoch")
        line = (
            f"{self.total - len(left)} of {self.total} runs: {job.run}, {epochs} "
            f"in {about['seconds']:.0f} s, validation {_validation(about)}"
        )
        ahead = f"; about {timedelta(seconds=round(self.remaining(left)))} left" if left else ""
        console().print(line + ahead, markup=False, highlight=False, soft_wrap=True)

    def remaining(self, left: Sequence[Run]) -> float:
        """Seconds, by what runs of the same variant took, or else all runs."""
        means = {name: sum(known) / len(known) for name, known in self.seconds.items()}
        usual = sum(means.values()) / len(means)
        return sum(means.get(run.variant.name, usual) for run in left) / self.workers


def _validation(about: Mapping[str, Any]) -> str:
    """The mean of both directions of what has selected the epoch, or else of 5-way recall."""
    best = about["history"][about["best_epoch"] - 1]
    by_labels = (
        about["settings"]["training"]["select"] == "labels" and "val_ndcg_image_to_text" in best
    )
    start, said = ("val_ndcg_", "NDCG") if by_labels else ("val_", "recall")
    return f"{said} {(best[f'{start}image_to_text'] + best[f'{start}text_to_image']) / 2:.3f}"

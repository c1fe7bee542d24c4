"""One run of an experiment, in whatever process: train, measure, keep the numbers, tidy up."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from trope import config
from trope.data.pairs import Pairs
from trope.data.readers import open
from trope.errors import DataError, TropeError
from trope.experiments.runs.measure import USUAL, Asked, measured
from trope.experiments.runs.outcome import Outcome
from trope.experiments.runs.plan import Run
from trope.runtime import commit
from trope.training import Trained, train

VALIDATED = ("val_image_to_text", "val_text_to_image", "val_loss")


@dataclass(frozen=True)
class Job:
    """A run with all it needs: the data, the split to measure on, where its numbers go."""

    run: Run
    data: Path
    split: str
    part: Path
    measure: Asked = USUAL

    @property
    def folder(self) -> Path:
        """Where the run is while it is under way."""
        return self.part.with_suffix("")


def perform(job: Job) -> str:
    """Train to the end and keep what came out; what went wrong is returned as one line."""
    started = time.monotonic()
    try:
        run, resume = job.run, _takeable(job.folder)
        pairs = run.variant.taken(_opened(job.data))
        trained = train(
            run.variant.recipe,
            pairs,
            job.folder,
            sets=run.variant.sets,
            seed=run.seed,
            scale=run.variant.scale,
            resume=resume,
            quiet=True,
        )
        found, chance = measured(job.folder, pairs, job.split, job.measure)
        about = _about(job, trained) | {"chance": chance, "resumed": resume}
        about["seconds"] = time.monotonic() - started
        Outcome(found, about).save(job.part)
    except TropeError as error:  # as a text: not every error finds its way between processes
        return str(error)
    shutil.rmtree(job.folder)
    return ""


@lru_cache(1)
def _opened(data: Path) -> Pairs:
    return open(data)


def _takeable(folder: Path) -> bool:
    """Whether a run that was stopped can go on; one that other code began is begun anew."""
    try:
        if orjson.loads((folder / "run.json").read_bytes())["commit"] == commit():
            return True
    except (OSError, orjson.JSONDecodeError, KeyError, TypeError):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    return False


def _weights(history: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """How uneven the weights of pairs were, the mean over epochs but the first, which has none."""
    names = sorted({name for line in history for name in line if name.startswith("weight_")})
    later = history[1:] or history
    each = {name: [line[name] for line in later if name in line] for name in names}
    return {name.removeprefix("weight_"): sum(some) / len(some) for name, some in each.items()}


def _about(job: Job, trained: Trained) -> dict[str, object]:
    progress = trained.progress
    best = progress.history[progress.best_epoch]
    if any(name not in best for name in VALIDATED):
        raise DataError("split 'val' has too few pairs for a 5-way recall")
    return {
        "recipe": job.run.variant.recipe,
        "seed": job.run.seed,
        "split": job.split,
        "epochs": progress.epoch,
        "best_epoch": progress.best_epoch + 1,
        **{name: best[name] for name in VALIDATED},
        "weights": _weights(progress.history),
        "history": progress.history,
        "commit": commit(),
        "settings": config.plain(trained.settings),
    }

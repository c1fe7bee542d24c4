"""The ratio that the weight `combined-val` adds its measures in, chosen on validation.

Each of nine ratios is trained for a few epochs on a share of the training pairs, with neighborhoods
of that share, in a folder inside the run's, and the best on validation is taken, by epochs that
have weights; of equals that which comes first, and 1:1 is the first of all. What is done stands in
`sweep.json`: a run that is stopped on the way goes on with the ratio it was at.
"""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
from lightning_fabric import Fabric

from trope import config
from trope.data.documents import dumps
from trope.data.pairs import Pairs
from trope.data.ratio import training_ratio
from trope.data.splits import SplitPlan
from trope.files import write_json
from trope.training.folder import SWEEP, has_state
from trope.training.selection import selector
from trope.training.settings import WORDS_ONLY, Recipe
from trope.training.state import Progress
from trope.training.task import Task
from trope.training.validation import Validation
from trope.weights import CHOICES, CombinedVal
from trope.wording import counted

FOLDER = "sweep"
LEAST = 4  # batches in a share of the pairs

Ratio = tuple[int, int]
Train = Callable[[Recipe, Pairs, Path], Progress]
Tell = Callable[[Iterable[str]], None]


def swept(
    task: Task,
    pairs: Pairs,
    settings: Recipe,
    seed: int,
    out: Path,
    fabric: Fabric,
    train: Train,
    tell: Tell,
) -> Task:
    """The task with the ratio that is best; each is told of when it is known."""
    weight = task.weight
    if not isinstance(weight, CombinedVal) or weight.chosen:
        return task
    about = _digest(settings, pairs, seed)
    found = fabric.broadcast(_found(out, about) if fabric.is_global_zero else {})
    share = _share(settings, weight, task)
    part = training_ratio(pairs, share, seed)
    measure = selector(task, settings, seed)
    tell([_plan(part, task, found)])
    for number, ratio in enumerate(CHOICES, start=1):
        if _name(ratio) in found:
            continue
        folder = out / FOLDER / _name(ratio).replace(":", "-")
        progress = train(_with(settings, weight, ratio, share), part, folder)
        found[_name(ratio)] = _best(progress, settings.training.select)
        if fabric.is_global_zero:
            write_json(out / SWEEP, {"about": about, "found": found})
            shutil.rmtree(folder)
        fabric.barrier()
        tell([f"ratio {number} of {len(CHOICES)}: {_told(ratio, found, measure)}"])
    if fabric.is_global_zero:  # also what a run has left that was killed in between
        shutil.rmtree(out / FOLDER, ignore_errors=True)
    best: Ratio = max(CHOICES, key=lambda ratio: found[_name(ratio)])
    chosen = replace(weight, beta=float(best[0]), gamma=float(best[1]))
    apart = max(found.values()) - min(found.values())
    tell([f"{_told(best, found, measure)} is taken; the best and the worst are {apart:.4f} apart"])
    return replace(task, weight=chosen)


def _best(progress: Progress, select: str) -> float:
    """On validation, of the epochs that have weights: in the first all ratios are the same run."""
    later = progress.history[1:] or progress.history
    return max(Validation.noted(line).chosen_by(select) for line in later)


def _plan(part: Pairs, task: Task, found: dict[str, float]) -> str:
    count = int(part.in_split("train").text_counts.sum())
    told = f"beta:gamma is chosen on validation, by {len(CHOICES)} short runs on {count:,} of "
    known = f"; {len(found)} are done" if found else ""
    return f"{told}{counted(len(task.train), 'pair')}{known}"


def _told(ratio: Ratio, found: dict[str, float], measure: str) -> str:
    """A ratio and what validation says of it; the sign of a loss was turned, as less is better."""
    value = found[_name(ratio)]
    known = -value if measure == "loss" else value
    return f"beta:gamma {_name(ratio)}, validation {measure} {known:.4f}"


def _found(out: Path, about: str) -> dict[str, float]:
    """What earlier attempts have found; those with other settings, pairs or seed do not count."""
    try:
        known: dict[str, Any] = orjson.loads((out / SWEEP).read_bytes())
    except (OSError, orjson.JSONDecodeError):
        known = {}
    if known.get("about") == about or (known and has_state(out)):
        return dict(known["found"])
    shutil.rmtree(out / FOLDER, ignore_errors=True)
    write_json(out / SWEEP, {"about": about, "found": {}})
    return {}


def _share(settings: Recipe, weight: CombinedVal, task: Task) -> float:
    """As asked for, and enough for some batches."""
    least = LEAST * settings.training.batch / len(task.train)
    return min(1.0, max(weight.share, least))


def _with(settings: Recipe, weight: CombinedVal, ratio: Ratio, share: float) -> Recipe:
    """The settings of a short run with this ratio; its pairs have their splits.

    A neighborhood is the same part of the data as in the whole: as large as it is there it would be
    nearly everyone, and as diverse as any other.
    """
    chosen = {"beta": float(ratio[0]), "gamma": float(ratio[1])}
    epochs = min(settings.training.epochs, weight.epochs)
    near = max(1, round(share * settings.neighbors.k))
    return replace(
        settings,
        neighbors=replace(settings.neighbors, k=near),
        weight={**(settings.weight or {}), **chosen},
        training=replace(settings.training, epochs=epochs),
        split=SplitPlan(images=settings.split.images),
    )


def _digest(settings: Recipe, pairs: Pairs, seed: int) -> str:
    plain = {k: v for k, v in config.plain(settings).items() if k not in WORDS_ONLY}
    return hashlib.blake2b(dumps([plain, pairs.fingerprint, seed]), digest_size=8).hexdigest()


def _name(ratio: Ratio) -> str:
    return f"{ratio[0]}:{ratio[1]}"

"""Do within-modality neighbor losses help? (Thomas & Kovashka 2020, Table 1)"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trope.experiments.spec import Experiment, Findings

RECIPES = (
    "infonce",
    "angular",
    "neighborhoods",
    "triplet",
    "neighborhoods-triplet",
    "pvse",
    "pvse-neighborhoods",
)


@dataclass(frozen=True)
class Neighborhoods:
    """What is trained, how often, and on which split it is measured.

    `sets` are changes of every run, like `--set` of `trope train`. `least` is the smallest
    difference that matters. Without `workers` there is one a core. With `finished` nothing is
    trained: the page is made of the seeds that all recipes have finished.
    """

    recipes: tuple[str, ...] = RECIPES
    encoders: tuple[Literal["sentence", "gru", "sentence-tuned"], ...] = ("sentence", "gru")
    seeds: int = 10
    split: Literal["test", "val"] = "test"
    least: float = 0.01
    sets: tuple[str, ...] = ()
    workers: int = 0
    finished: bool = False

    def __post_init__(self) -> None:
        for name in ("recipes", "encoders"):
            chosen = getattr(self, name)
            if not chosen or len(set(chosen)) < len(chosen):
                raise ValueError(f"{name} must name at least one, each once")
        if self.seeds < 1 or self.workers < 0:
            raise ValueError("seeds must be at least 1, workers at least 0")
        if not 0 <= self.least < 1:
            raise ValueError(f"least must be at least 0 and below 1, found {self.least}")


def _run(data: Path, parts: Path, settings: Neighborhoods) -> Findings:
    # Imported when it runs: the list of experiments must not cost what an experiment needs.
    from trope.experiments.neighborhoods.study import run

    return run(data, parts, settings)


EXPERIMENT = Experiment(
    title="Do losses between neighbors of one modality help retrieval?",
    paper="Thomas & Kovashka 2020, Preserving Semantic Neighborhoods, Table 1",
    data="any data set of image-text pairs",
    settings=Neighborhoods,
    run=_run,
    loose=frozenset({"recipes", "encoders", "seeds", "least", "workers", "finished"}),
)

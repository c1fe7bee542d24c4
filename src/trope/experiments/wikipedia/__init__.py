"""Retrieval by category on Wikipedia's features (Rasiwasia et al. 2010), old methods and new."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from trope.experiments.spec import Experiment, Findings

RECIPES = ("dscmr", "independent", "sharing", "sharing-consistency")


@dataclass(frozen=True)
class Wikipedia:
    """What is trained, and how often. `sets` are changes of every run, like `--set`.

    `least` is the smallest difference that matters. Without `workers` there is one a core. With
    `finished` nothing is trained: the page is made of the seeds that are finished.
    """

    recipes: tuple[str, ...] = RECIPES
    seeds: int = 10
    least: float = 0.01
    sets: tuple[str, ...] = ()
    workers: int = 0
    finished: bool = False

    def __post_init__(self) -> None:
        if not self.recipes or len(set(self.recipes)) < len(self.recipes):
            raise ValueError("recipes must name at least one, each once")
        if self.seeds < 1 or self.workers < 0:
            raise ValueError("seeds must be at least 1, workers at least 0")
        if not 0 <= self.least < 1:
            raise ValueError(f"least must be at least 0 and below 1, found {self.least}")


def _run(data: Path, parts: Path, settings: Wikipedia) -> Findings:
    # Imported when it runs: the list of experiments must not cost what an experiment needs.
    from trope.experiments.wikipedia.study import run

    return run(data, parts, settings)


EXPERIMENT = Experiment(
    title="Retrieval by category on Wikipedia's features",
    paper="Rasiwasia et al. 2010; methods of paper 003",
    data="Wikipedia's features in their official layout (trope formats)",
    settings=Wikipedia,
    run=_run,
    loose=frozenset({"recipes", "seeds", "least", "workers", "finished"}),
)

"""Are labels predicted better, and items found, by sharing? (Yang et al. 2021, Table 1)"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trope.experiments.spec import Experiment, Findings

RECIPES = ("independent", "dscmr", "sharing-consistency", "sharing")


@dataclass(frozen=True)
class LabelWise:
    """What is trained, how often, and on which split it is measured.

    NDCG is that of the first `cut` items (0: all), also in folds of `folds` pictures (0: not).
    `sets` are changes of every run, like `--set` of `trope train`. `least` is the smallest
    difference that matters. Without `workers` there is one a core. With `finished` nothing is
    trained: the page is made of the seeds that are finished.
    """

    recipes: tuple[str, ...] = RECIPES
    seeds: int = 5
    split: Literal["test", "val"] = "test"
    cut: int = 500
    folds: int = 1000
    least: float = 0.01
    sets: tuple[str, ...] = ()
    workers: int = 0
    finished: bool = False

    def __post_init__(self) -> None:
        if not self.recipes or len(set(self.recipes)) < len(self.recipes):
            raise ValueError("recipes must name at least one, each once")
        if self.seeds < 1 or self.workers < 0:
            raise ValueError("seeds must be at least 1, workers at least 0")
        if self.cut < 0 or self.folds < 0 or not 0 <= self.least < 1:
            raise ValueError("cut and folds must be at least 0, least at least 0 and below 1")
        if self.folds == 1:
            raise ValueError("folds must be 0, or at least 2")


def _run(data: Path, parts: Path, settings: LabelWise) -> Findings:
    # Imported when it runs: the list of experiments must not cost what an experiment needs.
    from trope.experiments.label_wise.study import run

    return run(data, parts, settings)


EXPERIMENT = Experiment(
    title="Are labels predicted better, and items found, by sharing?",
    paper="Yang et al. 2021, Rethinking Label-Wise Cross-Modal Retrieval, Table 1",
    data="image-text pairs with labels, such as COCO's",
    settings=LabelWise,
    run=_run,
    loose=frozenset({"recipes", "seeds", "least", "workers", "finished"}),
)

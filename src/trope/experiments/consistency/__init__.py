"""What a consistency loss does to labels and to retrieval (Yang et al. 2021, Figure 1)"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trope.experiments.spec import Experiment, Findings


@dataclass(frozen=True)
class Consistency:
    """What is trained with and without the consistency loss of weight `eta`, and how often.

    `sets` are changes of every run, like `--set` of `trope train`. `least` is the smallest
    difference that matters. Without `workers` there is one a core. With `finished` nothing is
    trained: the page is made of the seeds that are finished.
    """

    recipes: tuple[str, ...] = ("independent", "sharing")
    eta: float = 0.1
    seeds: int = 3
    split: Literal["test", "val"] = "test"
    cut: int = 500
    least: float = 0.01
    sets: tuple[str, ...] = ()
    workers: int = 0
    finished: bool = False

    def __post_init__(self) -> None:
        if not self.recipes or len(set(self.recipes)) < len(self.recipes):
            raise ValueError("recipes must name at least one, each once")
        if self.seeds < 1 or self.workers < 0:
            raise ValueError("seeds must be at least 1, workers at least 0")
        if not self.eta > 0 or self.cut < 0 or not 0 <= self.least < 1:
            raise ValueError("eta must be above 0, cut at least 0, least at least 0 and below 1")


def _run(data: Path, parts: Path, settings: Consistency) -> Findings:
    # Imported when it runs: the list of experiments must not cost what an experiment needs.
    from trope.experiments.consistency.study import run

    return run(data, parts, settings)


EXPERIMENT = Experiment(
    title="What does a consistency loss do to labels and to retrieval?",
    paper="Yang et al. 2021, supplementary material, Figure 1",
    data="image-text pairs with labels, such as COCO's",
    settings=Consistency,
    run=_run,
    loose=frozenset({"recipes", "seeds", "least", "workers", "finished"}),
)

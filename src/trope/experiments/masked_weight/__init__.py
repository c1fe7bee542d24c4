"""How much should masked prediction weigh? (Yang et al. 2021, Figure 3)"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trope.experiments.spec import Experiment, Findings


@dataclass(frozen=True)
class MaskedWeight:
    """The `weights` (the paper's lambda) that are tried, how often, and where they are measured.

    On `val`, where a weight may be chosen. `sets` are changes of every run, like `--set` of `trope
    train`. `least` is the smallest difference that matters. Without `workers` there is one a core.
    With `finished` nothing is trained: the page is made of the seeds that are finished.
    """

    weights: tuple[float, ...] = (0.0, 0.001, 0.01, 0.1, 1.0, 10.0)
    recipe: str = "sharing"
    seeds: int = 2
    split: Literal["val", "test"] = "val"
    cut: int = 0
    least: float = 0.01
    sets: tuple[str, ...] = ()
    workers: int = 0
    finished: bool = False

    def __post_init__(self) -> None:
        if len(self.weights) < 2 or len(set(self.weights)) < len(self.weights):
            raise ValueError("weights must be at least two, each once")
        if min(self.weights) < 0:
            raise ValueError("weights must be at least 0")
        if self.seeds < 1 or self.workers < 0:
            raise ValueError("seeds must be at least 1, workers at least 0")
        if self.cut < 0 or not 0 <= self.least < 1:
            raise ValueError("cut must be at least 0, least at least 0 and below 1")


def _run(data: Path, parts: Path, settings: MaskedWeight) -> Findings:
    # Imported when it runs: the list of experiments must not cost what an experiment needs.
    from trope.experiments.masked_weight.study import run

    return run(data, parts, settings)


EXPERIMENT = Experiment(
    title="How much should masked prediction weigh?",
    paper="Yang et al. 2021, supplementary material, Figure 3",
    data="image-text pairs with labels, such as COCO's",
    settings=MaskedWeight,
    run=_run,
    loose=frozenset({"weights", "seeds", "least", "workers", "finished"}),
)

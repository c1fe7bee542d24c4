"""Do weights for complementary pairs help? (Thomas & Kovashka 2022, Tables 2 and 3)"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from trope.experiments.spec import Experiment, Findings

RECIPES = (
    "infonce",
    "pvse",
    "neighborhoods",
    "pvse-neighborhoods-triplet",
    "hal",
    "mithun",
    "amrani",
    "distance-weighted",
    "random-weights",
    "uniform-lambda",
    "discrepancy",
    "diversity",
    "combined-val",
    "combined-stats",
)
BASE, MODERN, EVEN = "pvse", "infonce", "uniform-lambda"
PERMUTED, SHUFFLED, EVENED = ", permuted", ", shuffled", ", even"  # end the names of controls
CONTROLS = (PERMUTED, SHUFFLED, EVENED)
SCALED = ("random-weights", "discrepancy", "diversity", "combined-val", "combined-stats")  # by λ
CLAIMED = (  # orders that the paper tells of
    ("diversity", "discrepancy"),
    ("combined-val", "diversity"),
    ("combined-val", "discrepancy"),
    ("diversity", "hal"),
    ("diversity", "mithun"),
    ("diversity", "amrani"),
)
OWN: Mapping[str, tuple[str, ...]] = {
    "ess": ("weight.name=ess",),
    "ess, permuted": ("weight.name=ess", "weight.permuted=true"),
    "normalized difference": ("weight.name=normalized-difference",),
}


@dataclass(frozen=True)
class Complementary:
    """What is trained, how often, and on which split it is measured.

    `own` are changes of `pvse`, by name: what no recipe has. One whose name is that of another and
    ends with `, permuted`, `, shuffled` or `, even` is its control. `sets` are changes of every
    run, like `--set` of `trope train`: `head.senses=1` leaves PVSE's senses out. `rows` are
    training rows (0: all), `ways` is the size of a task. `text` is a column of the data that takes
    the place of its texts, such as `description`; splits are then made anew. `least` is the
    smallest difference that matters. Without `workers` there is one a core. With `finished` nothing
    is trained: the page is made of the seeds that are finished.
    """

    recipes: tuple[str, ...] = RECIPES
    own: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: dict(OWN))
    encoders: tuple[Literal["sentence", "gru", "sentence-tuned"], ...] = ("sentence",)
    seeds: int = 10
    rows: int = 0
    text: str = ""
    ways: int = 5
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
        if BASE not in self.recipes:
            found = ", ".join(self.recipes)
            raise ValueError(
                f"recipes must have {BASE}, which the others are compared with; found {found}"
            )
        if taken := set(self.own) & set(self.recipes):
            raise ValueError(f"own: '{min(taken)}' is a recipe; choose another name")
        if self.seeds < 1 or min(self.workers, self.rows) < 0 or self.ways < 2:
            raise ValueError(
                "seeds must be at least 1, workers and rows at least 0, ways at least 2"
            )
        if not 0 <= self.least < 1:
            raise ValueError(f"least must be at least 0 and below 1, found {self.least}")


def _run(data: Path, parts: Path, settings: Complementary) -> Findings:
    # Imported when it runs: the list of experiments must not cost what an experiment needs.
    from trope.experiments.complementary.study import run

    return run(data, parts, settings)


EXPERIMENT = Experiment(
    title="Do weights for complementary pairs help retrieval?",
    paper="Thomas & Kovashka 2022, Emphasizing Complementary Samples, Table 2 and part of 3",
    data="any data set of image-text pairs",
    settings=Complementary,
    run=_run,
    loose=frozenset({"recipes", "own", "encoders", "seeds", "least", "workers", "finished"}),
)

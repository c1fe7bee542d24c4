"""Does ranking by captions help? (Li et al., NeurIPS 2022, appendix, Tables 1 and 2)"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trope.experiments.spec import Experiment, Findings

Relevance = Literal["cider-daa", "bleu", "rouge-daa", "mean-daa", "cider", "rouge", "mean"]


@dataclass(frozen=True)
class Ranking:
    """What both tables share: which models are trained on what, how often, and how measured.

    A model is a recipe whose name ends in `-daa`; without DAA it is the same recipe with
    `daa=none`. `rows` are training rows and `asked` rows of test (0: all), `folds` the pictures of
    a fold (0: all are one). `sets` are changes of every run, like `--set` of `trope train`. `least`
    is the smallest difference that matters. Without `workers` there is one a core. With `finished`
    nothing is trained: the page is made of the seeds that all runs have finished.
    """

    models: tuple[str, ...] = ("vse", "pcme")
    seeds: int = 3
    rows: int = 1_000
    asked: int = 0
    folds: int = 1_000
    least: float = 0.01
    sets: tuple[str, ...] = ("text.encoder=sentence",)
    workers: int = 0
    finished: bool = False

    def __post_init__(self) -> None:
        if not self.models or len(set(self.models)) < len(self.models):
            raise ValueError("models must name at least one, each once")
        if self.seeds < 1 or min(self.workers, self.rows, self.asked) < 0:
            raise ValueError("seeds must be at least 1, workers, rows and asked at least 0")
        if not 0 <= self.least < 1:
            raise ValueError(f"least must be at least 0 and below 1, found {self.least}")


@dataclass(frozen=True)
class Measures(Ranking):
    """Table 1: no DAA, and DAA by each measure of relevance, the paper's by default.

    Those with `-daa` are what the authors' code computes; `cider` and `rouge` what these names mean
    elsewhere.
    """

    relevance: tuple[Relevance, ...] = ("cider-daa", "bleu", "rouge-daa")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.relevance or len(set(self.relevance)) < len(self.relevance):
            raise ValueError("relevance must name at least one measure, each once")


@dataclass(frozen=True)
class Ratios(Ranking):
    """Table 2: shares of the training captions, without and with DAA."""

    ratios: tuple[float, ...] = (0.2, 0.4, 0.6, 0.8, 1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(set(self.ratios)) < 2 or len(set(self.ratios)) < len(self.ratios):
            raise ValueError("ratios must be at least two, each once")
        if not all(0 < ratio <= 1 for ratio in self.ratios):
            raise ValueError("ratios lie above 0 and at most at 1")


LOOSE = frozenset(
    {"models", "seeds", "rows", "asked", "sets", "relevance", "ratios"}
    | {"least", "workers", "finished"}
)


def _measures(data: Path, parts: Path, settings: Measures) -> Findings:
    # Imported when it runs: the list of experiments must not cost what an experiment needs.
    from trope.experiments.daa.study import run

    return run(data, parts, settings)


def _ratios(data: Path, parts: Path, settings: Ratios) -> Findings:
    from trope.experiments.daa.ratios import run

    return run(data, parts, settings)


EXPERIMENT = Experiment(
    title="Does ranking by captions help, and by which measure of relevance?",
    paper="Li et al. 2022, A Differentiable Semantic Metric Approximation, appendix, Table 1",
    data="image-text pairs with several texts an image",
    settings=Measures,
    run=_measures,
    loose=LOOSE,
)
DATA_RATIO = Experiment(
    title="How does the gain of ranking by captions depend on the amount of training data?",
    paper="Li et al. 2022, A Differentiable Semantic Metric Approximation, appendix, Table 2",
    data="image-text pairs with several texts an image",
    settings=Ratios,
    run=_ratios,
    loose=LOOSE,
)

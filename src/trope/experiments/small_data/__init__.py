"""Which settings suit a few thousand pairs: the papers' are for hundreds of thousands."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from trope.experiments.small_data.variants import VARIANTS
from trope.experiments.spec import Experiment, Findings

Encoder = Literal["sentence", "gru", "sentence-tuned"]


@dataclass(frozen=True)
class SmallData:
    """What is tried with which recipe. `variants`: by text encoder, by name, changes like `--set`.

    Each is compared with the recipe's settings for small data; so are, with `papers`, those that
    it has for large data. `least` is the smallest difference that matters. Without `workers` there
    is one a core. With `finished` nothing is trained: the page is made of what is there.
    """

    recipe: str = "angular"
    encoders: tuple[Encoder, ...] = ("sentence", "gru")
    seeds: int = 3
    variants: Mapping[str, Mapping[str, tuple[str, ...]]] = field(
        default_factory=lambda: dict(VARIANTS)
    )
    papers: bool = True
    least: float = 0.01
    sets: tuple[str, ...] = ()
    workers: int = 0
    finished: bool = False

    def __post_init__(self) -> None:
        if not self.encoders or len(set(self.encoders)) < len(self.encoders):
            raise ValueError("encoders must name at least one, each once")
        if self.seeds < 1 or self.workers < 0:
            raise ValueError("seeds must be at least 1, workers at least 0")
        if not 0 <= self.least < 1:
            raise ValueError(f"least must be at least 0 and below 1, found {self.least}")


def _run(data: Path, parts: Path, settings: SmallData) -> Findings:
    # Imported when it runs: the list of experiments must not cost what an experiment needs.
    from trope.experiments.small_data.study import run

    return run(data, parts, settings)


EXPERIMENT = Experiment(
    title="Which settings suit a few thousand pairs?",
    paper="Thomas & Kovashka 2020, Preserving Semantic Neighborhoods, Sec. 3.4 (settings)",
    data="any data set of image-text pairs",
    settings=SmallData,
    run=_run,
    loose=frozenset({"encoders", "variants", "papers", "seeds", "least", "workers", "finished"}),
)

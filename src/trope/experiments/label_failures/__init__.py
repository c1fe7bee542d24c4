"""What is found wrongly, and why (Yang et al. 2021, Figure 2)"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from trope.experiments.spec import Experiment, Findings


@dataclass(frozen=True)
class LabelFailures:
    """What is trained, and what is shown: so many queries of each kind, `texts` and `images` found.

    `sets` are changes of the run, like `--set` of `trope train`.
    """

    recipe: str = "sharing"
    seed: int = 0
    split: Literal["test", "val"] = "test"
    queries: int = 4
    texts: int = 5
    images: int = 3
    sets: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if min(self.queries, self.texts, self.images) < 1:
            raise ValueError("queries, texts and images must be at least 1")


def _run(data: Path, parts: Path, settings: LabelFailures) -> Findings:
    # Imported when it runs: the list of experiments must not cost what an experiment needs.
    from trope.experiments.label_failures.study import run

    return run(data, parts, settings)


EXPERIMENT = Experiment(
    title="What is found wrongly, and why?",
    paper="Yang et al. 2021, supplementary material, Figure 2",
    data="image-text pairs with labels, such as COCO's",
    settings=LabelFailures,
    run=_run,
    loose=frozenset({}),
)

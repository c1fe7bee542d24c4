"""What is measured, and how: the settings of an evaluation."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Literal

from trope.errors import UsageError, did_you_mean
from trope.evaluation.comparison import LEAST
from trope.evaluation.hubs import Hubs
from trope.runtime import refuse_seed

TRUTHS = ("eccv", "cxc")  # people's judgments


@dataclass(frozen=True)
class EvaluationSettings:
    """Settings of an evaluation; all have defaults that suit the data at hand.

    `metrics` are names such as `recall@1` or families such as `asp`; none means all that the data
    allows. `ways` are the sizes of c-way tasks, None for 5, 20 and 100 as far as they fit, and
    `draws` a number of random tasks instead of their exact expectation. `folds` is the size of
    folds in pictures, 0 for the whole gallery. `truth` names people's judgments: `eccv`, or
    `cxc=FOLDER`. `neighbors` is the k of preservation (None: 200, at most a 20th of the items)
    in the semantic `space`, by default the one that the run was trained with. `labels` says whether
    labels are COCO's instances, which published PMRP figures go by. `margin` is the difference of
    shares that does not matter: within it two sides are equal (of ranks, as much of the places).
    `threshold` is the score from which on a label counts as predicted; None: of a run, the best on
    the validation split for each modality, or the highest score where every training pair has one
    label; of a file, 0.5. `candidates` is how many items a query's scorer ranks, nearest by cosine,
    as in a search; 0 for all.
    """

    metrics: tuple[str, ...] = ()
    ways: tuple[int, ...] | None = None
    draws: int = 0
    folds: int = 0
    hubs: Hubs = field(default_factory=Hubs)
    truth: tuple[str, ...] = ()
    neighbors: int | None = None
    space: Literal["run", "doc2vec", "sentence"] = "run"
    labels: Literal["any", "instances"] = "any"
    margin: float = LEAST
    threshold: float | None = None
    candidates: int = 0
    seed: int = 0

    def __post_init__(self) -> None:
        if any(way < 2 for way in self.ways or ()):
            raise UsageError(f"ways: a task needs at least 2 items, found {min(self.ways or ())}")
        if self.draws < 0:
            raise UsageError(f"draws: 0 (exact) or more, found {self.draws}")
        if self.folds < 0:
            raise UsageError(f"folds: a number of pictures, found {self.folds}")
        if self.candidates < 0:
            raise UsageError(f"candidates: 0 (all) or more, found {self.candidates}")
        if self.neighbors is not None and self.neighbors < 1:
            raise UsageError(f"neighbors: at least 1, found {self.neighbors}")
        if not 0 <= self.margin < 1:
            raise UsageError(f"margin: a share from 0 to below 1, found {self.margin}")
        if self.threshold is not None and not math.isfinite(self.threshold):
            raise UsageError(f"threshold: a number, found {self.threshold}")
        refuse_seed(self.seed)
        self._refuse_truth()

    def _refuse_truth(self) -> None:
        """Judgments are named, each once, and of those that there are."""
        kinds = [name.partition("=")[0] for name in self.truth]
        for name, kind in zip(self.truth, kinds, strict=True):
            if kind not in TRUTHS or name.startswith("eccv="):
                known = "expected eccv, cxc or cxc=FOLDER, each by a --truth"
                raise UsageError(f"--truth {name}: {known}{did_you_mean(kind, TRUTHS)}")
            if kinds.count(kind) > 1:
                raise UsageError(f"--truth {kind}: stands there {kinds.count(kind)} times")
        if self.folds and self.truth:
            raise UsageError("--truth: people judged the whole gallery; leave out --folds")

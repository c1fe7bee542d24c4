"""What is measured: Recall@1 and ASP by each measure of relevance, in folds of the 1K protocol.

The measures are those of the paper's figures, which its code computes: CIDEr there is the cosine of
TF-IDF vectors of single words, and ROUGE another mean than usual.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from trope.evaluation.gallery import Side
from trope.experiments.runs import Outcome
from trope.experiments.runs.measure import Pass
from trope.experiments.runs.summary import difference, mean_of

DIRECTIONS: dict[str, Side] = {"image_to_text": "image", "text_to_image": "text"}
RECALL = "recall@1"
ASPS = {
    "asp/cider-daa": "ASP (C)",
    "asp/bleu": "ASP (B)",
    "asp/rouge-daa": "ASP (R)",
    "asp/mean-daa": "ASP (A)",
}
METRICS = {RECALL: "R@1", **ASPS}
OWN = dict(zip(("cider", "bleu", "rouge", "mean"), ASPS, strict=True))  # by family of measures


@dataclass(frozen=True)
class Semantic:
    """Recall@1 and ASP of both directions, in folds of so many pictures."""

    folds: int = 1_000

    @property
    def passes(self) -> Sequence[Pass]:
        """Recall under the name of the direction alone, as runs are summed up by it."""
        wanted = {
            named(direction, metric): (side, metric)
            for direction, side in DIRECTIONS.items()
            for metric in METRICS
        }
        return (Pass(wanted, {"folds": self.folds}),)


def named(direction: str, metric: str) -> str:
    """The name of answers."""
    return direction if metric == RECALL else f"{direction} {metric}"


def own(kind: str) -> str:
    """The ASP that DAA by a measure should raise first, whichever form of the measure it is."""
    return OWN[kind.removesuffix("-daa")]


def figures(outcomes: Sequence[Outcome], asp: Sequence[str]) -> dict[str, Any]:
    """By direction and metric: the mean with its interval; and what a run took."""
    seconds = [outcome.about["seconds"] for outcome in outcomes]
    found: dict[str, Any] = {
        direction: {
            metric: mean_of(outcomes, named(direction, metric)) for metric in (RECALL, *asp)
        }
        for direction in DIRECTIONS
    }
    return found | {"seconds": sum(seconds) / len(seconds)}


def gains(
    left: Sequence[Outcome], right: Sequence[Outcome], asp: Sequence[str], least: float
) -> dict[str, Any]:
    """By direction and metric: left minus right, paired by seed and query."""
    return {
        direction: {
            metric: difference(left, right, named(direction, metric), least)
            for metric in (RECALL, *asp)
        }
        for direction in DIRECTIONS
    }

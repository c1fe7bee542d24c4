"""F1 of predicted labels: one number for all items, whichever modality they are of.

    micro-F1 = 2 TP / (2 TP + FP + FN) over all items and labels
    macro-F1 = the mean of each label's F1

Semantic sharing (IJCAI 2021) reports micro-F1 without its threshold; 0.5 on probabilities is ours,
better chosen on the validation split.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Float64

from trope.errors import DataError, UsageError

THRESHOLD = 0.5

Truth = Bool[np.ndarray, "items labels"]


@dataclass(frozen=True, eq=False)
class Agreement:
    """Of each item: twice the labels found, and labels predicted plus labels there.

    Their sums over any items give the micro-F1 of those, so that items can be redrawn.
    """

    found: Float64[np.ndarray, " items"]
    total: Float64[np.ndarray, " items"]

    @property
    def f1(self) -> float:
        """The micro-F1 of all items."""
        return _ratio(float(self.found.sum()), float(self.total.sum()))


def agreement(predicted: Truth, truth: Truth) -> Agreement:
    """What the micro-F1 adds up, item by item."""
    total = predicted.sum(axis=1) + truth.sum(axis=1)
    return Agreement(2.0 * (predicted & truth).sum(axis=1), total.astype(np.float64))


def micro_f1(
    scores: Float[np.ndarray, "items labels"], truth: Truth, threshold: float = THRESHOLD
) -> float:
    """F1 over all items and labels together; common labels decide it."""
    return agreement(chosen(scores, threshold), truth).f1


def macro_f1(
    scores: Float[np.ndarray, "items labels"], truth: Truth, threshold: float = THRESHOLD
) -> float:
    """The mean F1 of the labels that occur or are predicted; each counts the same."""
    predicted = chosen(scores, threshold)
    found = 2 * (predicted & truth).sum(axis=0)
    total = predicted.sum(axis=0) + truth.sum(axis=0)
    there = total > 0
    return float(np.mean(found[there] / total[there])) if there.any() else float("nan")


def best_threshold(scores: Float[np.ndarray, "items labels"], truth: Truth) -> float:
    """The threshold with the highest micro-F1; for the validation split."""
    values, inverse = np.unique(scores, return_inverse=True)
    hits = np.bincount(inverse.ravel(), truth.ravel(), len(values))[::-1].cumsum()[::-1]
    taken = np.bincount(inverse.ravel(), minlength=len(values))[::-1].cumsum()[::-1]
    return float(values[np.argmax(2 * hits / (taken + truth.sum()))])


def chosen(scores: Float[np.ndarray, "items labels"], threshold: float) -> Truth:
    """The labels with a score of at least the threshold."""
    strange = ~np.isfinite(scores).all(axis=1)
    if strange.any():
        raise DataError(f"item {int(strange.argmax())}: a label's score is not a finite number")
    if not np.isfinite(threshold):
        raise UsageError(f"threshold: a number, found {threshold}")
    return np.asarray(scores >= threshold)


def _ratio(part: float, whole: float) -> float:
    return part / whole if whole else float("nan")

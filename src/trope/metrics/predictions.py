"""F1 of predicted labels: one number for all items, whichever modality they are of.

    micro-F1 = 2 TP / (2 TP + FP + FN) over all items and labels
    macro-F1 = the mean of each label's F1

Semantic sharing (IJCAI 2021) reports micro-F1 without its threshold; 0.5 on probabilities is ours,
better chosen on the validation split.
"""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float, Float64

from trope.errors import DataError, UsageError

THRESHOLD = 0.5

Truth = Bool[np.ndarray, "items labels"]
Values = Float64[np.ndarray, " items"]


def micro_parts(predicted: Truth, truth: Truth) -> Values:
    """A number an item: their mean is the micro-F1, and varies as the micro-F1 does.

    F1 is a ratio of two sums, F = S / T. With s and t of one item its number is
    F + (s - F t) n / T: what means are made of holds for it too, intervals and comparisons.
    """
    found = 2.0 * (predicted & truth).sum(axis=1)
    return _parts(found, (predicted.sum(axis=1) + truth.sum(axis=1)).astype(np.float64))


def macro_parts(predicted: Truth, truth: Truth) -> Values:
    """The same for the macro-F1: the mean over labels that occur or are predicted."""
    found, total = 2.0 * (predicted & truth), predicted.astype(np.float64) + truth
    there = np.flatnonzero(total.any(axis=0))
    if not len(there):
        return np.full(len(truth), np.nan)
    each = np.stack([_parts(found[:, label], total[:, label]) for label in there])
    return np.asarray(each.mean(axis=0))


def _parts(found: Values, total: Values) -> Values:
    if not total.any():
        return np.full(len(total), np.nan)
    ratio = found.sum() / total.sum()
    return np.asarray(ratio + (found - ratio * total) * (len(total) / total.sum()))


def micro_f1(
    scores: Float[np.ndarray, "items labels"], truth: Truth, threshold: float = THRESHOLD
) -> float:
    """F1 over all items and labels together; common labels decide it."""
    return float(micro_parts(chosen(scores, threshold), truth).mean())


def macro_f1(
    scores: Float[np.ndarray, "items labels"], truth: Truth, threshold: float = THRESHOLD
) -> float:
    """The mean F1 of the labels that occur or are predicted; each counts the same."""
    return float(macro_parts(chosen(scores, threshold), truth).mean())


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


def highest(scores: Float[np.ndarray, "items labels"]) -> Truth:
    """The label with the highest score alone, of items that have one each."""
    return np.asarray(np.arange(scores.shape[1]) == scores.argmax(axis=1)[:, None])

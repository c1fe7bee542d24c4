"""What Rasiwasia et al. (ACM Multimedia 2010) do with features: correlation, semantics, both.

    CM    canonical correlation analysis: directions in which pictures and texts go together
    SM    the probabilities of categories by logistic regression, for each modality alone
    SCM   SM on what CM gives

Features are standardized as training has them. How many directions, and how much regression is held
back, is chosen on the validation split; then all is learned from the training split alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, TypeAlias

import numpy as np
from jaxtyping import Float, Int

from trope.errors import MissingExtra

EXTRA = "baselines"
STRENGTHS = (0.01, 0.1, 1.0, 10.0)  # of logistic regression, the inverse of what holds it back

Values: TypeAlias = Float[np.ndarray, "_items _size"]
Both: TypeAlias = tuple[Values, Values]  # pictures and texts
Placed: TypeAlias = Mapping[str, Both]  # by split


def require() -> None:
    """Refuse before any work where the package is missing."""
    if find_spec("sklearn") is None:
        raise MissingExtra("canonical correlation analysis", EXTRA)


@dataclass(frozen=True, eq=False)
class Features:
    """Standardized features of each split, and the category of each training pair."""

    of: Placed
    categories: Int[np.ndarray, " train"]


def classic(
    given: Features, precision: Callable[[Both], float]
) -> dict[str, tuple[dict[str, float], Both]]:
    """For each method, by name, what was chosen and where it puts the test split.

    `precision` is that of the validation split.
    """
    correlated = cache(lambda count: _correlated(given, int(count)))
    most = min(side.shape[1] for side in given.of["train"])
    counts = range(1, most + 1)
    best = max(counts, key=lambda count: precision(correlated(count)["val"]))
    found = {"CM": ({"directions": float(best)}, correlated(best)["test"])}
    semantic = [({"strength": s}, _semantic(given, given.of, s)) for s in STRENGTHS]
    found["SM"] = _chosen(semantic, precision)
    both = [
        ({"directions": float(count), "strength": s}, _semantic(given, correlated(count), s))
        for count in counts
        for s in STRENGTHS
    ]
    return found | {"SCM": _chosen(both, precision)}


def _chosen(
    tried: list[tuple[dict[str, float], Placed]], precision: Callable[[Both], float]
) -> tuple[dict[str, float], Both]:
    options, placed = max(tried, key=lambda one: precision(one[1]["val"]))
    return options, placed["test"]


def _correlated(given: Features, count: int) -> Placed:
    model: Any = import_module("sklearn.cross_decomposition").CCA(count, scale=False, max_iter=2000)
    model.fit(*given.of["train"])
    return {split: model.transform(*both) for split, both in given.of.items()}


def _semantic(given: Features, placed: Placed, strength: float) -> Placed:
    """Probabilities of categories, each modality by itself, about their training mean."""
    found: dict[str, list[Values]] = {split: [] for split in placed}
    for side in (0, 1):
        model: Any = import_module("sklearn.linear_model").LogisticRegression(
            C=strength, max_iter=2000
        )
        model.fit(placed["train"][side], given.categories)
        middle = model.predict_proba(placed["train"][side]).mean(axis=0)
        for split, both in placed.items():
            found[split].append(model.predict_proba(both[side]) - middle)
    return {split: (both[0], both[1]) for split, both in found.items()}

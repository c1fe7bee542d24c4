"""How well a list finds what is wrong, looked through from its top.

precision    of as many pairs as are wrong, the share that is
recall at q  of the wrong pairs, the share among the first q of all
ap           average precision: the mean over wrong pairs of the precision where each stands
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from jaxtyping import Bool, Float
from scipy import stats

DEPTHS = (0.05, 0.1, 0.2)
LEVEL = 0.95

Wrong: TypeAlias = Bool[np.ndarray, " n"]


def figures(score: Float[np.ndarray, " n"], wrong: Wrong) -> dict[str, float]:
    """All figures of a score, which is high where a pair looks wrong."""
    hits = wrong[np.argsort(-score, kind="stable")]
    many, total = int(wrong.sum()), len(wrong)
    precision = np.cumsum(hits) / np.arange(1, total + 1)
    recalls = {name(depth): float(hits[: round(depth * total)].sum() / many) for depth in DEPTHS}
    return {
        "ap": float(precision[hits].mean()),
        "precision": float(hits[:many].mean()),
        **recalls,
    }


def by_chance(many: int, total: int) -> dict[str, float]:
    """What a list in random order is expected to reach."""
    place = np.arange(1, total + 1)
    others = (many - 1) / max(total - 1, 1)
    ap = float(np.mean((1 + others * (place - 1)) / place))
    recalls = {name(depth): round(depth * total) / total for depth in DEPTHS}
    return {"ap": ap, "precision": many / total, **recalls}


def name(depth: float) -> str:
    """What a recall is called."""
    return f"recall@{depth:.0%}"


def interval(
    values: Float[np.ndarray, " seeds"], least: float = 0.0, most: float = 1.0
) -> dict[str, float | None]:
    """The mean over seeds, and the bounds that Student's t gives it; none of one seed."""
    value = float(values.mean())
    if len(values) < 2:
        return {"value": value, "low": None, "high": None}
    wide = stats.t.ppf((1 + LEVEL) / 2, len(values) - 1) * values.std(ddof=1) / len(values) ** 0.5
    low, high = max(value - float(wide), least), min(value + float(wide), most)
    return {"value": value, "low": low, "high": high}

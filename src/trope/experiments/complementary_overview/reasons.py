"""Why the papers' weights are nearly equal: what two softmaxes make of scores that are cosines.

The first makes a = c (1 + U - mean) of a score, nearly, where c = λ/B; the second makes weights in
proportion to exp |a_X - a_Y|. Where the scores of images and of texts are normal with deviation d
and correlation r, their difference in the exponent is normal too, with s² = 2 (1 - r) c² d², and

    E exp(t |x|) = 2 exp(t² s² / 2) Φ(t s)

so that the effective share of a batch, (E w)² / E w², is 2 exp(-s²) Φ(s)² / Φ(2s).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from trope.experiments.complementary_overview.paper import DATA, DEVIATIONS, SCALES
from trope.experiments.runs.tables import NONE
from trope.reports.tables import Table
from trope.weights.semantic import PAPER

SINGLE = ("discrepancy", "diversity")  # recipes that weigh by one measure, as the paper does
UNEVEN = 0.7  # an effective share at which some pairs count several times as much as others


def expected_share(deviation: float, agreement: float, scale: float = PAPER) -> float:
    """The effective share of a batch that such scores lead to."""
    s = scale * deviation * math.sqrt(2 * (1 - agreement))
    return 2 * math.exp(-s * s) * _normal(s) ** 2 / _normal(2 * s)


def needed_deviation(share: float, agreement: float, scale: float = PAPER) -> float:
    """How far scores would have to deviate for that effective share; it falls as they do."""
    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        too_even = expected_share(middle, agreement, scale) > share
        low, high = (middle, high) if too_even else (low, middle)
    return low


def _normal(x: float) -> float:
    return (1 + math.erf(x / math.sqrt(2))) / 2


def reasons(columns: Mapping[str, Any]) -> Table:
    """What the scores of each data set were like, and what follows from that alone.

    The paper tells how its scores deviate, not how those of images and texts go together, on which
    the share depends: for its data there is a range, over the correlations that are seen here.
    """
    rows = [
        [name, column, *_cells(found["weights"][name])]
        for name in SINGLE
        for column, found in columns.items()
        if "deviation" in found["weights"].get(name, {})
    ]
    rows += [
        [name, f"paper: {data}", f"{deviation:.3f}", *[NONE] * 3, *_ranges(deviation, both, scale)]
        for name in SINGLE
        for both in [_agreements(columns, name)]
        for data, deviation, scale in zip(DATA, DEVIATIONS[name], SCALES, strict=True)
    ]
    heads = [
        "recipe", "data", "deviation", "images and texts", "epoch to epoch",
        "effective share", "expected", f"deviation for {UNEVEN:g}",
    ]  # fmt: skip
    return Table("Why the papers' weights are nearly equal", heads, rows)


def _agreements(columns: Mapping[str, Any], name: str) -> list[float]:
    """The lowest and the highest correlation of images and texts; 0 where none was measured."""
    known = [found["weights"].get(name, {}).get("agreement") for found in columns.values()]
    seen = [value for value in known if value is not None] or [0.0]
    return [min(seen), max(seen)]


def _ranges(deviation: float, agreements: list[float], scale: float) -> list[str]:
    each = zip(*(_expected(deviation, one, scale) for one in agreements), strict=True)
    return [low if low == high else f"{low} to {high}" for low, high in each]


def _cells(found: Mapping[str, float]) -> list[str]:
    deviation, agreement = found["deviation"], found["agreement"]
    steadiness = found.get("steadiness")
    return [
        f"{deviation:.3f}",
        f"{agreement:.2f}",
        NONE if steadiness is None else f"{steadiness:.2f}",
        f"{found['ess']:.4f}",
        *_expected(deviation, agreement, PAPER),
    ]


def _expected(deviation: float, agreement: float, scale: float) -> list[str]:
    return [
        f"{expected_share(deviation, agreement, scale):.4f}",
        f"{needed_deviation(UNEVEN, agreement, scale):.2f}",
    ]

"""The distribution of |alpha_X - alpha_Y| by both measures (supplement of paper 001, Fig. 1)."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from jaxtyping import Float

from trope.explain.weights.findings import RunWeights
from trope.reports.plots import Line, Panel
from trope.weights import MEASURES

BINS = 60
SEEN = 99.5  # percent of the values that lie within the plot
POINTS = 200

Numbers: TypeAlias = Float[np.ndarray, " n"]


def panels(found: RunWeights) -> tuple[Panel, Panel]:
    """The differences of both measures, and the weights from the smallest to the largest."""
    differences = {name: found.table.column(f"{name} difference").to_numpy() for name in MEASURES}
    weights = {one.name: one.weights / one.weights.mean() for one in found.weightings}
    return (
        Panel(
            "Image and text measure differently",
            "|alpha of image − alpha of text|",
            "density",
            [Line(name, *density(values, differences)) for name, values in differences.items()],
        ),
        Panel(
            "Weights, smallest to largest",
            "share of pairs",
            "weight / mean weight",
            [Line(name, *quantiles(values)) for name, values in weights.items()],
        ),
    )


def density(values: Numbers, among: dict[str, Numbers]) -> tuple[list[float], list[float]]:
    """A histogram over the range of several sets of values: middles of bins, and shares by width.

    What lies beyond the range is counted in no bin, but is part of the whole.
    """
    top = max(float(np.percentile(some, SEEN)) for some in among.values()) or 1.0
    counts, edges = np.histogram(values, BINS, (0.0, top))
    middles = (edges[1:] + edges[:-1]) / 2
    return middles.tolist(), (counts / len(values) / (edges[1] - edges[0])).tolist()


def quantiles(values: Numbers) -> tuple[list[float], list[float]]:
    """The value below which each share of all lies."""
    shares = np.linspace(0, 1, POINTS)
    return shares.tolist(), np.quantile(values, shares).tolist()

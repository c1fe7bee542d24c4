"""Many trainings: every variant by every seed, each kept when it is done, compared in pairs."""

from trope.experiments.runs.measure import Measure
from trope.experiments.runs.outcome import Outcome
from trope.experiments.runs.plan import Run, Variant
from trope.experiments.runs.series import Series, train_all
from trope.experiments.runs.summary import SIDES, contrast, described

__all__ = [
    "SIDES",
    "Measure",
    "Outcome",
    "Run",
    "Series",
    "Variant",
    "contrast",
    "described",
    "train_all",
]

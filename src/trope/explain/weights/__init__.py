"""What the training pairs of a run weigh, and which weigh most and least."""

from trope.explain.weights.findings import RunWeights, Weighting
from trope.explain.weights.job import WeightsSettings, explain_run

__all__ = ["RunWeights", "Weighting", "WeightsSettings", "explain_run"]

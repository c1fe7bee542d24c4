"""Pages that explain a data set: what means alike, and whether it looks alike."""

from trope.explain.job import explain
from trope.explain.settings import ExplainSettings

__all__ = ["ExplainSettings", "explain"]

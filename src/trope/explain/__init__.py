"""Pages that explain: a data set, the weights of a run, two runs, and pairs that look wrong."""

from trope.explain.against import AgainstSettings, explain_against
from trope.explain.job import explain
from trope.explain.settings import ExplainSettings
from trope.explain.weights import WeightsSettings, explain_run
from trope.explain.wrong import WrongSettings, find_wrong

__all__ = [
    "AgainstSettings",
    "ExplainSettings",
    "WeightsSettings",
    "WrongSettings",
    "explain",
    "explain_against",
    "explain_run",
    "find_wrong",
]

"""How well pictures and texts find each other: every metric in one pass, with intervals."""

from trope.evaluation.comparison import Comparison, compare
from trope.evaluation.intervals import Result, summary
from trope.evaluation.job import evaluate, evaluate_embeddings, evaluate_run
from trope.evaluation.results import Evaluation

__all__ = [
    "Comparison",
    "Evaluation",
    "Result",
    "compare",
    "evaluate",
    "evaluate_embeddings",
    "evaluate_run",
    "summary",
]

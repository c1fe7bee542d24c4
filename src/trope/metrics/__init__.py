"""Metrics: scores of some queries and what is right in, one number per query out."""

from trope.metrics.block import Block, Metric
from trope.metrics.counting import Counts, Places
from trope.metrics.labels import Labels
from trope.metrics.sorting import tie_priority
from trope.metrics.table import METRICS, Entry, entry_of
from trope.metrics.tasks import mean_rank_in_task, recall_in_task

__all__ = [
    "METRICS",
    "Block",
    "Counts",
    "Entry",
    "Labels",
    "Metric",
    "Places",
    "entry_of",
    "mean_rank_in_task",
    "recall_in_task",
    "tie_priority",
]

"""Metrics: the places of the right items in, one number per query out."""

from trope.metrics.counting import Places, places
from trope.metrics.tasks import mean_rank_in_task, recall_in_task

__all__ = ["Places", "mean_rank_in_task", "places", "recall_in_task"]

"""Neighbors that one run keeps closer than another (Thomas & Kovashka, ECCV 2020, Fig. 5)."""

from trope.explain.against.findings import Contrast, Couple, Kept
from trope.explain.against.job import AgainstSettings, explain_against

__all__ = ["AgainstSettings", "Contrast", "Couple", "Kept", "explain_against"]

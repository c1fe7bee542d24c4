"""Pairs that look wrong: picture and text that support each other least."""

from trope.explain.wrong.findings import Suspect, Suspects
from trope.explain.wrong.job import find_wrong, of_run
from trope.explain.wrong.scores import SCORES, WITNESSES
from trope.explain.wrong.settings import WrongSettings

__all__ = [
    "SCORES",
    "WITNESSES",
    "Suspect",
    "Suspects",
    "WrongSettings",
    "find_wrong",
    "of_run",
]

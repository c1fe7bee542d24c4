"""Data sets of image-text pairs: reading, checking, splitting, converting, and the built-in one."""

from trope.data.pairs import Pairs
from trope.data.readers import open

__all__ = ["Pairs", "open"]

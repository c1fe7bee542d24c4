"""Trope: image-text retrieval when the text does not describe the image."""

from trope.data import Pairs, open
from trope.types import Pair

__all__ = ["Pair", "Pairs", "open"]

"""Caption relevance: how much caption j says the same as the captions of image i."""

from __future__ import annotations

from trope.spaces.captions.corpus import Corpus
from trope.spaces.captions.measures import MEASURES
from trope.spaces.captions.relevance import Fitted, Matrix, Relevance, Top

__all__ = ["MEASURES", "Corpus", "Fitted", "Matrix", "Relevance", "Top"]

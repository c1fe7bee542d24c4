"""Spaces in which items are compared: vectors of texts and images, and relevance of captions."""

from trope.spaces.doc2vec import Doc2Vec
from trope.spaces.sentence import Sentence
from trope.spaces.vectors import Space, Vectors
from trope.spaces.visual import Visual

__all__ = ["SPACES", "Doc2Vec", "Sentence", "Space", "Vectors", "Visual"]

SPACES: dict[str, type[Space]] = {"doc2vec": Doc2Vec, "sentence": Sentence, "visual": Visual}

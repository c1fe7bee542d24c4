"""Search: texts and pictures, averaged and subtracted, among the items of an index."""

from trope.search.hits import Hit, Results
from trope.search.index import Index
from trope.search.job import build_index, open_index
from trope.search.ranking import Reranker

__all__ = ["Hit", "Index", "Reranker", "Results", "build_index", "open_index"]

"""Filters on the columns of an index: `year >= 2020 and section = 'politics'`, safely parsed."""

from trope.index.filters.parse import parse
from trope.index.filters.rows import mask
from trope.index.filters.tree import Filter, check

__all__ = ["Filter", "check", "mask", "parse"]

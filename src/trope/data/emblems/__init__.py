"""The built-in data set: pictures of icons with sentences that mean what the pictures stand for."""

from trope.data.emblems.book import EmblemBook
from trope.data.emblems.write import write_emblem_book

__all__ = ["EmblemBook", "write_emblem_book"]

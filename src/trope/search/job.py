"""Indexes made and opened, from Python."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

from trope import config
from trope.data.pairs import Pairs
from trope.data.readers import open as open_pairs
from trope.index.job import build
from trope.index.settings import IndexSettings
from trope.search.index import Index
from trope.search.ranking import Reranker

Place: TypeAlias = str | PathLike[str]


def build_index(run: Place, data: Place | Pairs, out: Place, **settings: Any) -> Index:
    """Encode a data set by the model of a run, and keep it in a folder that can be searched.

    `settings` are those of `IndexSettings`, such as `engine="milvus", uri="http://127.0.0.1:19530"`.
    """
    pairs = data if isinstance(data, Pairs) else open_pairs(Path(data))
    chosen = config.parse(IndexSettings, settings, "index")
    build(Path(run), pairs, Path(out), chosen)
    return Index(out)


def open_index(index: Place, rerank: Reranker | bool = True) -> Index:
    """An index that is there; with `rerank=False` it is searched by cosines alone."""
    return Index(index, rerank)

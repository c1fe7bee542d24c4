"""Trope: image-text retrieval when the text does not describe the image.

The names below are looked up when they are first used: a worker process or `trope --version` starts
without loading the readers of every format.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from trope.data.pairs import Pairs
    from trope.data.readers import open
    from trope.evaluation import evaluate_run as evaluate
    from trope.search import Index, build_index, open_index
    from trope.training.train import Trained, train
    from trope.types import Pair

    __version__: str

__all__ = [
    "Index",
    "Pair",
    "Pairs",
    "Trained",
    "build_index",
    "evaluate",
    "open",
    "open_index",
    "train",
]

_HOMES = {
    "Index": ("trope.search", "Index"),
    "Pair": ("trope.types", "Pair"),
    "Pairs": ("trope.data.pairs", "Pairs"),
    "Trained": ("trope.training", "Trained"),
    "build_index": ("trope.search", "build_index"),
    "evaluate": ("trope.evaluation", "evaluate_run"),
    "open": ("trope.data.readers", "open"),
    "open_index": ("trope.search", "open_index"),
    "train": ("trope.training", "train"),
}


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("trope.runtime").version()
    if name not in _HOMES:
        raise AttributeError(f"module 'trope' has no attribute {name!r}")
    module, inside = _HOMES[name]
    return getattr(import_module(module), inside)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES, "__version__"])

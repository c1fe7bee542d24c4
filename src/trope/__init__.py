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
    from trope.types import Pair

    __version__: str

__all__ = ["Pair", "Pairs", "open"]

_HOMES = {"Pair": "trope.types", "Pairs": "trope.data.pairs", "open": "trope.data.readers"}


def __getattr__(name: str) -> object:
    if name == "__version__":
        return import_module("trope.runtime").version()
    if name not in _HOMES:
        raise AttributeError(f"module 'trope' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES, "__version__"])

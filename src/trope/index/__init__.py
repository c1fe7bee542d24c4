"""An index of vectors with their rows: added to, searched, kept whole; by one of three engines."""

from trope.index.engine import Engine, Found
from trope.index.folder import State
from trope.index.items import Items
from trope.index.opening import create, open_engine
from trope.index.settings import ENGINES, IndexSettings

__all__ = [
    "ENGINES",
    "Engine",
    "Found",
    "IndexSettings",
    "Items",
    "State",
    "create",
    "open_engine",
]

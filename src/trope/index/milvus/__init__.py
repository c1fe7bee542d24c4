"""The engine for many machines: a Milvus server, with one collection for each index.

A vector is an entity, in a partition for its modality; its row is a JSON document that the server
filters by. Entities have the numbers of the state in which they came (`born`) and went (`died`),
and every search asks for those of one state. So a write is seen as a whole once `index.json` names
the next state; what a killed one has left, the next one that writes puts right. What went with the
last write stays until the next one, so that who reads the state before it still finds all of it.
What a scorer needs of items is in files of the folder, which the same state names.
"""

from trope.index.milvus.collection import drop, make, planned
from trope.index.milvus.server import connected
from trope.index.milvus.writing import Milvus

__all__ = ["Milvus", "connected", "drop", "make", "planned"]

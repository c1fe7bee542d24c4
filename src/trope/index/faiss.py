"""The engine for one machine: FAISS over files that are mapped.

Few vectors are compared one by one, many are found by a graph. Where a filter lets only few items
pass these are compared one by one too: a graph would lead to items that may not be found.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from jaxtyping import Bool

from trope.index import graphs
from trope.index.candidates import Places, Queries, Scores, by_all, by_nodes, filled, nodes_of
from trope.index.local import Local
from trope.index.parts import REMEMBERED, Part
from trope.index.settings import IndexSettings
from trope.recent import Recent

FEWEST = 0.02  # of all items: a filter that lets fewer pass leaves the graph aside

Allowed = Bool[np.ndarray, " items"] | None


class Faiss(Local):
    """Flat below a size, a graph above it."""

    def reload(self) -> None:
        """See the newest state."""
        super().reload()
        self._asked: Recent[tuple[int, int, int], Any] = Recent(REMEMBERED)

    def _search(
        self, part: Part, queries: Queries, k: int, allowed: Allowed
    ) -> tuple[Places, Scores]:
        if allowed is not None and (part.graph is None or self._few(part, allowed)):
            return by_all(part, queries, k, allowed)
        simple = part.plain and queries.shape[1] == 1
        wanted = k if simple else (k - 1) * part.senses.shape[1] + 1
        scores, near = self._near(part, queries, min(wanted, len(part.nodes)), allowed)
        if simple:
            return filled(near, scores, k)
        return by_nodes(part, queries, near, k, allowed)

    def _near(self, part: Part, queries: Queries, count: int, allowed: Allowed) -> tuple[Any, Any]:
        """The nodes nearest to each sense of each query."""
        flat = np.ascontiguousarray(queries.reshape(-1, queries.shape[2]))
        if part.graph is None:
            return graphs.compared(part.nodes, flat, count)
        found = part.graph.search(flat, count, params=self._parameters(part, count, allowed))
        return found[0], found[1]

    def _parameters(self, part: Part, count: int, allowed: Allowed) -> Any:
        """How to ask a graph; answers of `Part.allowed` are kept, so that they name themselves."""
        key = (id(part), id(allowed), count)
        if (found := self._asked.get(key)) is None:
            asking = max(self.state.settings.asking, count)
            found = graphs.parameters(asking, nodes_of(part, allowed))
            found.allowed = allowed  # while it lives, no other has its number
            self._asked.put(key, found)
        return found

    def _few(self, part: Part, allowed: Bool[np.ndarray, " items"]) -> bool:
        passing = int(np.count_nonzero(allowed))
        return passing <= max(self.state.settings.flat, FEWEST * len(allowed))

    def _finished(self, part: Part, settings: IndexSettings) -> Part:
        """A part with its graph, where it has enough nodes for one."""
        if part.graph is None and len(part.nodes) <= settings.flat:
            return part
        graph = graphs.grown(part.graph, part.nodes, settings)
        return replace(part, graph=graph, nodes=graphs.vectors(graph))

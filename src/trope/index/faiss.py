"""The engine for one machine: FAISS over files that are mapped.

Few vectors are compared one by one, many are found by a graph.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from jaxtyping import Bool

from trope.index import graphs
from trope.index.candidates import Places, Queries, Scores, by_all
from trope.index.local import Local
from trope.index.parts import Part
from trope.index.settings import IndexSettings
from trope.index.walking import compared, walked


class Faiss(Local):
    """Flat below a size, a graph above it."""

    def _search(
        self, part: Part, queries: Queries, k: int, allowed: Bool[np.ndarray, " items"] | None
    ) -> tuple[Places, Scores]:
        if part.graph is not None:
            return walked(part, queries, k, allowed, self.state.settings.asking)
        if allowed is not None:
            return by_all(part, queries, k, allowed)
        return compared(part, queries, k)

    def _finished(self, part: Part, settings: IndexSettings) -> Part:
        """A part with its graph, where it has enough nodes for one."""
        if part.graph is None and len(part.nodes) <= settings.flat:
            return part
        graph = graphs.grown(part.graph, part.nodes, settings)
        return replace(part, graph=graph, nodes=graphs.vectors(graph))

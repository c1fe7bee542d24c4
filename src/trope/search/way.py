"""How the candidates of a search are ranked."""

from __future__ import annotations

from dataclasses import dataclass

from trope.encoders.scorers import COSINE
from trope.evaluation.hubs import Hubs
from trope.search.ranking import Reranker
from trope.search.rescoring import Rescoring

CANDIDATES = 200  # whose order is made anew


@dataclass(frozen=True, eq=False)
class Way:
    """By cosines, which may have hubs taken off; by the model's scorer; by a user's function."""

    hubs: Hubs
    rerank: Rescoring | Reranker | None = None
    scorer: str = ""

    @property
    def anew(self) -> bool:
        """Whether the order of candidates is not that of their cosines."""
        return self.rerank is not None or self.hubs.method != "none"

    @property
    def parts(self) -> bool:
        """Whether a query is compared by more than where it lies."""
        return self.rerank is not None

    @property
    def name(self) -> str:
        """What users know it by."""
        return self.scorer or (COSINE if self.rerank is None else "reranker")

    def remarks(self, last: int, hits: int) -> tuple[str, ...]:
        """What there is to say about hits up to rank `last`."""
        if self.rerank is None or last <= CANDIDATES or not hits:
            return ()
        return (f"hits after the first {CANDIDATES} are ranked by the cosine",)

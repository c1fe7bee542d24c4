"""SGR, similarity graph reasoning (Diao et al., AAAI 2021).

    E = softmax(Q K'),  Q = X W_q + b_q,  K = X W_k        each node looks at all nodes of its pair
    X ← ReLU(E X W_g + b_g)                                three times; node 0 is read

X holds the similarity vectors of a pair, the global one first. Q K' is taken as (X M + u) X' with
M = W_q W_k' and u = b_q W_k', one product less; a bias of K would add the same to all that a
softmax compares, and is left out. The last step is of node 0 alone.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from trope.encoders.heads import xavier
from trope.encoders.scorers.comparing import Comparing
from trope.encoders.scorers.scorer import Nodes, Scorer
from trope.encoders.scorers.settings import Alignment, check_least
from trope.maths import softmax


@dataclass(frozen=True)
class Sgr(Alignment):
    """Reasoning over the graph of a pair's similarity vectors, in so many `steps`."""

    steps: int = 3

    def __post_init__(self) -> None:
        super().__post_init__()
        check_least(steps=self.steps)

    def module(self, dimensions: int) -> Comparing:
        """With new weights."""
        return GraphReasoning(dimensions, self)


class GraphReasoning(Scorer):
    """Scores by SGR."""

    def __init__(self, dimensions: int, settings: Sgr) -> None:
        super().__init__(dimensions, settings.size, settings.temperature)
        self.steps = nn.ModuleList(Reasoning(settings.size) for _ in range(settings.steps))

    def read(self, nodes: Nodes) -> Float[Tensor, "n c s"]:
        """Node 0 after the last step."""
        n, c, count, size = nodes.vectors.shape
        vectors = nodes.vectors.view(n * c, count, size)
        absent = (~nodes.present).repeat(n, 1)[:, None]
        *first, last = self.steps
        for step in first:
            vectors = step(vectors, vectors, absent)
        found: Tensor = last(vectors[:, :1], vectors, absent)
        return found.view(n, c, size)


class Reasoning(nn.Module):
    """One step, for the nodes that ask."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.query = xavier(nn.Linear(size, size))
        self.key = xavier(nn.Linear(size, size, bias=False))
        self.graph = xavier(nn.Linear(size, size))

    def forward(
        self,
        asking: Float[Tensor, "pairs asking s"],
        vectors: Float[Tensor, "pairs nodes s"],
        absent: Bool[Tensor, "pairs 1 nodes"],
    ) -> Float[Tensor, "pairs asking s"]:
        """What each of them becomes."""
        both = self.key.weight.T @ self.query.weight  # of keys from queries, as of a linear map
        asked = nn.functional.linear(asking, both, self.query.bias @ self.key.weight)
        edges = torch.bmm(asked, vectors.transpose(1, 2)).masked_fill(absent, -torch.inf)
        found: Tensor = self.graph(torch.bmm(softmax(edges), vectors))
        return found.relu()

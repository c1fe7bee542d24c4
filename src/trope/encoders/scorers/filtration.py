"""SAF, similarity attention filtration (Diao et al., AAAI 2021), and both as one.

    β = sigmoid(BatchNorm(w · s)),  read = normalize(Σ β s / Σ β)

over the similarity vectors of a pair. Statistics of the batch norm are those of all pairs and words
of a batch; in the released code, which takes texts one by one, they are of one text with all
images. SGRAF is the mean of the scores of SGR and SAF: the paper's of two models trained apart,
here of two scorers on the same encoders, trained together.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from trope.encoders.batch_norm import BatchNorm
from trope.encoders.heads import xavier
from trope.encoders.scorers.comparing import Comparing
from trope.encoders.scorers.reasoning import Sgr
from trope.encoders.scorers.scorer import Compared, Nodes, Scorer
from trope.encoders.scorers.settings import Alignment
from trope.maths import SHORTEST, normalize
from trope.views import Encoded


@dataclass(frozen=True)
class Saf(Alignment):
    """A weighted sum of a pair's similarity vectors, which leaves out what does not matter."""

    def module(self, dimensions: int) -> Comparing:
        """With new weights."""
        return Filtration(dimensions, self)


@dataclass(frozen=True)
class Sgraf(Sgr):
    """The mean of the scores of SGR and SAF."""

    def module(self, dimensions: int) -> Comparing:
        """With new weights."""
        saf = Saf(size=self.size, temperature=self.temperature)
        return Both(super().module(dimensions), saf.module(dimensions))


class Filtration(Scorer):
    """Scores by SAF."""

    def __init__(self, dimensions: int, settings: Saf) -> None:
        super().__init__(dimensions, settings.size, settings.temperature)
        self.weigh = xavier(nn.Linear(settings.size, 1, bias=False))
        self.norm = BatchNorm(1)

    def looked_at(self, found: Iterator[Compared]) -> Iterable[Compared]:
        """In training the batch norm comes to know all pairs before it weighs any."""
        if not self.training:
            return found
        blocks = list(found)
        logits = [self._logits(nodes)[_real(nodes)] for _, nodes in blocks]
        known = self.norm.observed(torch.cat(logits))
        return [(block, nodes._replace(known=known)) for block, nodes in blocks]

    def read(self, nodes: Nodes) -> Float[Tensor, "n c s"]:
        """The sum of what matters."""
        weights = torch.sigmoid(self.norm.applied(self._logits(nodes), nodes.known))
        weights = weights.masked_fill(~nodes.present[:, :, None], 0)
        weights = weights / weights.sum(dim=2, keepdim=True).clamp(min=SHORTEST)
        return normalize((weights.transpose(2, 3) @ nodes.vectors).squeeze(2))

    def _logits(self, nodes: Nodes) -> Float[Tensor, "n c nodes 1"]:
        found: Tensor = self.weigh(nodes.vectors)
        return found


class Both(Comparing):
    """Scores by SGRAF."""

    def __init__(self, sgr: nn.Module, saf: nn.Module) -> None:
        super().__init__()
        self.sgr, self.saf = sgr, saf

    def forward(self, image: Encoded, text: Encoded) -> Float[Tensor, "n m"]:
        """The mean of both."""
        found: Tensor = (self.sgr(image, text) + self.saf(image, text)) / 2
        return found


def _real(nodes: Nodes) -> Bool[Tensor, "n c nodes"]:
    return nodes.present.expand(len(nodes.vectors), -1, -1)

"""Semantic sharing (Yang et al., IJCAI 2021, paper 003): labels predicted by every part of an item.

    states  = transformer(parts mapped to one size + where they are)
    scores  = mean over parts of sigmoid(W state) / its length
    masked  = mean over masked parts of -log softmax(V state) of what was there

One transformer reads the parts of both modalities, each by itself. The point of an item are its
scores, at length one, or the mean of its states. Parts of texts are told apart by their places,
those of pictures by their boxes, where these are known.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn import functional

from trope.encoders.content import Content
from trope.encoders.heads import there, xavier
from trope.encoders.settings import HeadSettings
from trope.encoders.transformer import Transformer
from trope.maths import log_odds, normalize
from trope.views import Encoded

BOX = 5


class Sharing(nn.Module):
    """The head of one modality; the transformer in it may be that of the other too.

    `places` is how many parts are told apart by their order, 0 for none; `targets` is how many
    things a masked part can be, 0 where none is masked.
    """

    def __init__(
        self,
        part: int,
        settings: HeadSettings,
        transformer: Transformer,
        *,
        places: int = 0,
        boxes: bool = False,
        targets: int = 0,
    ) -> None:
        super().__init__()
        size, self.options = settings.size, settings.transformer
        self.map = xavier(nn.Linear(part, size))
        self.places = nn.Embedding(places, size) if places else None
        self.boxes = xavier(nn.Linear(BOX, size)) if boxes else None
        self.enter, self.dropout = nn.LayerNorm(size), nn.Dropout(settings.dropout)
        self.transformer = transformer
        self.predict = xavier(nn.Linear(size, targets)) if targets else None
        if self.places is not None:
            nn.init.normal_(self.places.weight, std=0.02)

    def forward(self, content: Content) -> Encoded:
        """The item's point, the scores of its labels and what its masked parts cost."""
        parts = content.whole[:, None] if content.parts is None else content.parts
        present = content.present
        if present is None:
            present = torch.ones(parts.shape[:2], dtype=torch.bool, device=parts.device)
        states = self.transformer(self._entered(parts, content), present)
        scores = self.scores(states, present)
        point = scores
        if self.options.vector == "hidden":
            point = mean_present(states, present)
        return Encoded(
            there(normalize(point), content),
            logits=log_odds(scores),
            masked=self._masked(states, content),
        )

    def scores(
        self, states: Float[Tensor, "n l d"], present: Bool[Tensor, "n l"]
    ) -> Float[Tensor, "n c"]:
        """The scores of labels: the mean over the parts of an item."""
        found = torch.sigmoid(self.transformer.classify(states))
        return mean_present(normalize(found) if self.options.normalized else found, present)

    def _entered(self, parts: Float[Tensor, "n l c"], content: Content) -> Float[Tensor, "n l d"]:
        entered = self.map(parts)
        if self.places is not None:
            entered = entered + self.places.weight[: parts.shape[1]]
        if self.boxes is not None:
            assert content.boxes is not None
            entered = entered + self.boxes(content.boxes)
        return torch.as_tensor(self.dropout(self.enter(entered)))

    def _masked(
        self, states: Float[Tensor, "n l d"], content: Content
    ) -> Float[Tensor, " n"] | None:
        """What predicting the masked parts of each item cost, the mean over them."""
        if self.predict is None or content.masked is None or content.targets is None:
            return None
        guessed = self.predict(states[content.masked])
        costs = functional.cross_entropy(guessed, content.targets[content.masked], reduction="none")
        items, count = content.masked.nonzero()[:, 0], content.masked.sum(dim=1)
        return costs.new_zeros(len(states)).index_add(0, items, costs) / count.clamp(min=1)


def mean_present(
    values: Float[Tensor, "n l d"], present: Bool[Tensor, "n l"]
) -> Float[Tensor, "n d"]:
    """Of the real parts; zeros where there is none."""
    kept = values.masked_fill(~present[:, :, None], 0)
    return kept.sum(dim=1) / present.sum(dim=1, keepdim=True).clamp(min=1)

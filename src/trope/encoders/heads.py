"""Heads: from an item's content to its point, or its K points, in the joint space."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn

from trope.encoders.content import Content
from trope.encoders.settings import HeadSettings
from trope.maths import normalize
from trope.views import Encoded


class Linear(nn.Module):
    """One linear map, then length one: the two-stream model of paper 004.

    An item without content, as a text without words, is the zero vector: like nothing.
    """

    def __init__(self, whole: int, settings: HeadSettings) -> None:
        super().__init__()
        self.dropout = nn.Dropout(settings.dropout)
        self.map = xavier(nn.Linear(whole, settings.size))

    def forward(self, content: Content) -> Encoded:
        """The item's point."""
        return Encoded(there(normalize(self.map(self.dropout(content.whole))), content))


class PieNet(nn.Module):
    """K points per item (Song & Soleymani 2019, PVSE): a shared vector plus attended parts.

    Each of the K heads of attention weighs the parts anew; what it gathers is squashed, added to
    the shared vector and normalized. The item's mean is the direction of the K points' sum; without
    parts all are zero, residuals too. The layer inside attention has half the size of a part, as in
    the paper, where settings do not say otherwise.
    """

    def __init__(self, whole: int, part: int, settings: HeadSettings) -> None:
        super().__init__()
        hidden = settings.attention or max(part // 2, 1)
        self.map = xavier(nn.Linear(whole, settings.size))
        self.look = xavier(nn.Linear(part, hidden, bias=False))
        self.weigh = xavier(nn.Linear(hidden, settings.senses, bias=False))
        self.gather = xavier(nn.Linear(part, settings.size))
        self.dropout = nn.Dropout(settings.dropout)
        self.norm = nn.LayerNorm(settings.size)

    def forward(self, content: Content) -> Encoded:
        """The item's K points, their residuals, and the mean of the points."""
        if content.parts is None:
            raise ValueError("several senses need the parts of an item")
        weights = attention(self.look, self.weigh, content.parts, content.present)
        attended = weights.transpose(1, 2) @ content.parts
        residuals = self.dropout(torch.sigmoid(self.gather(attended)))
        points = self.norm(self.map(content.whole)[:, None] + residuals)
        points = there(normalize(points), content)
        return Encoded(normalize(points.sum(dim=1)), points, there(residuals, content))


def attention(
    look: nn.Linear,
    weigh: nn.Linear,
    parts: Float[Tensor, "n l c"],
    present: Bool[Tensor, "n l"] | None,
) -> Float[Tensor, "n l k"]:
    """How much each head looks at each part; nothing at padding."""
    if present is None:
        return torch.softmax(weigh(torch.tanh(look(parts))), dim=1)
    real = weigh(torch.tanh(look(parts[present])))  # padding costs nothing
    scores = real.new_full((*present.shape, real.shape[1]), torch.finfo(real.dtype).min)
    scores[present] = real
    return torch.softmax(scores, dim=1)


def head(whole: int, part: int, settings: HeadSettings) -> Linear | PieNet:
    """The head of points that settings ask for; one sense is the plain linear map."""
    if settings.senses == 1:
        return Linear(whole, settings)
    return PieNet(whole, part, settings)


def there(vectors: Float[Tensor, "n *k d"], content: Content) -> Float[Tensor, "n *k d"]:
    """Zeros for items without content: what a head makes of nothing means nothing.

    They have no part at all or, where parts are not told, zeros for a whole.
    """
    if content.present is None:
        empty = content.whole.abs().amax(dim=1) == 0
    else:
        empty = ~content.present.any(dim=1)
    if not empty.any():  # nearly always
        return vectors
    return vectors.masked_fill(empty.view(-1, *[1] * (vectors.ndim - 1)), 0)


def xavier(layer: nn.Linear) -> nn.Linear:
    """Xavier's initial weights (Glorot & Bengio 2010), as the papers use them."""
    nn.init.xavier_uniform_(layer.weight)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer

"""The head of DSCMR (Zhen et al., CVPR 2019): a layer of each modality, then two that both share.

h = relu(W_m whole)      point = W h      labels = V point
"""

from __future__ import annotations

import torch
from torch import nn

from trope.encoders.content import Content
from trope.encoders.heads import there, xavier
from trope.encoders.settings import HeadSettings
from trope.maths import normalize
from trope.views import Encoded


class Common(nn.Module):
    """What both modalities share: the map into the joint space, and what scores labels there."""

    def __init__(self, settings: HeadSettings, labels: int) -> None:
        super().__init__()
        self.map = xavier(nn.Linear(settings.hidden, settings.size))
        self.classify = xavier(nn.Linear(settings.size, labels))


class Classified(nn.Module):
    """The head of one modality."""

    def __init__(self, whole: int, settings: HeadSettings, common: Common) -> None:
        super().__init__()
        self.own, self.common = xavier(nn.Linear(whole, settings.hidden)), common
        self.dropout = nn.Dropout(settings.dropout)

    def forward(self, content: Content) -> Encoded:
        """The item's point, how long it was, and the scores of its labels."""
        point = self.common.map(self.dropout(torch.relu(self.own(content.whole))))
        length: torch.Tensor = torch.linalg.vector_norm(point, dim=1)
        return Encoded(
            there(normalize(point), content), logits=self.common.classify(point), length=length
        )

"""Items as normal distributions: the probabilistic head of PCME (Chun et al., CVPR 2021).

    μ     = PIE-Net with one head of attention, length one
    log σ = W₁ attended parts + W₂ whole + b                       no sigmoid, no LayerNorm

As in the authors' public code (naver-ai/pcme), but for two things. There the second term of a text
is another GRU's; here it is a linear map, as that of an image is. And b starts at a setting:
at 0, where theirs starts, samples lie √(2d) apart, farther than any two means.
"""

from __future__ import annotations

from torch import nn

from trope.encoders.content import Content
from trope.encoders.heads import PieNet, attention, there, xavier
from trope.encoders.settings import HeadSettings
from trope.views import Encoded


class Normal(nn.Module):
    """Mean and spread of an item; one without content is zero, with the spread all start with."""

    def __init__(self, whole: int, part: int, settings: HeadSettings, start: float) -> None:
        super().__init__()
        self.mean = PieNet(whole, part, settings)
        hidden = settings.attention or max(part // 2, 1)
        self.look = xavier(nn.Linear(part, hidden, bias=False))
        self.weigh = xavier(nn.Linear(hidden, 1, bias=False))
        self.gather = xavier(nn.Linear(part, settings.size, bias=False))
        self.map = xavier(nn.Linear(whole, settings.size))
        nn.init.constant_(self.map.bias, start)
        self.start = start

    def forward(self, content: Content) -> Encoded:
        """The item's distribution."""
        mean = self.mean(content).mean
        assert content.parts is not None
        weights = attention(self.look, self.weigh, content.parts, content.present)
        attended = (weights.transpose(1, 2) @ content.parts)[:, 0]
        log_sigma = self.gather(attended) + self.map(content.whole)
        return Encoded(mean, log_sigma=there(log_sigma - self.start, content) + self.start)

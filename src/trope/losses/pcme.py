"""PCME's soft contrastive loss (Chun et al., CVPR 2021) over a batch, and PCME++'s as well.

    L_i = 2 (-log p_ii - ½ Σ_{j≠i} (log(1 - p_ij) + log(1 - p_ji)))
        + kl (KL(image_i ‖ N(0, 1)) + KL(text_i ‖ N(0, 1))) + uniformity · U

p is the probability of a match as the model's scorer gives it, by samples or in closed form. Pairs
with the same image or text are neither a match that is asked for nor a negative. U is the
logarithm of the mean of exp(-2 ‖z - z'‖²) over samples of the batch, and the same for each pair.

The mean over pairs is 1/n of what the authors' public code has (naver-ai/pcme), which sums: both
directions, which are equal, and the KL. Numbers are theirs for COCO: 1e-5 and 0; for CUB 1e-3, and
10 for the uniformity of a batch of 128, which is 10/128 here. There the KL takes for the logarithm
of a variance what is sampled from as that of a standard deviation; here it is the latter in both.
`released` is as there. For PCME++ see the scorer's `form`.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from trope.losses.loss import Loss, check_weights, part
from trope.losses.siglip import sigmoid_loss
from trope.matching import divergence, released_divergence, samples, uniformity
from trope.similarity import scores_of
from trope.views import Encoded, View

MOST = 128  # samples whose uniformity is looked at


@dataclass(eq=False, kw_only=True)
class PCME(Loss):
    """Each image with each text of the batch: a match, or not, with this probability.

    `samples` of an item are drawn for the uniformity, and for the KL as it was released.
    """

    kl: float = 1e-5
    uniformity: float = 0.0
    samples: int = 7
    released: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_weights(kl=self.kl, uniformity=self.uniformity)
        if self.samples < 1:
            raise ValueError(f"samples must be one or more, not {self.samples}")

    @property
    def needs(self) -> frozenset[str]:
        """What makes odds of scores."""
        return frozenset({"odds"})

    def forward(self, view: View) -> Float[Tensor, " n"]:
        """The loss of each pair."""
        loss = 2 * sigmoid_loss(part(view.odds, "odds") * scores_of(view), view.same)
        if self.kl:
            loss = loss + self.kl * (self._divergence(view.image) + self._divergence(view.text))
        if self.uniformity and self.training:
            points = torch.cat([self._drawn(items).flatten(0, 1) for items in _both(view)])
            chosen = torch.randperm(len(points))[:MOST].to(points.device)
            loss = loss + self.uniformity * uniformity(points[chosen])
        return loss

    def _divergence(self, items: Encoded) -> Float[Tensor, " n"]:
        if not self.released:
            return divergence(items)
        points = self._drawn(items) if self.training else items.mean[:, None]
        return released_divergence(points, part(items.log_sigma, "log_sigma"))

    def _drawn(self, items: Encoded) -> Float[Tensor, "n k d"]:
        n, d = items.mean.shape
        return samples(items, torch.randn(n, self.samples, d).to(items.mean))


def _both(view: View) -> tuple[Encoded, Encoded]:
    return view.image, view.text

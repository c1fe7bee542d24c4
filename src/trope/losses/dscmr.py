"""Deep supervised cross-modal retrieval (Zhen et al., CVPR 2019, DSCMR, Eqs. 3-6).

    L_i = ‖p_i - y_i‖ + ‖q_i - y_i‖ + a consistency_i + b ‖u_i - v_i‖

y_i are the labels of a pair as zeros and ones, p_i and q_i what its image and its text say of them
by a linear map, u_i and v_i their vectors before these are scaled. The sum over two modalities and
three matrices, a = 0.001 and b = 0.1 are those of the authors' public code (penghu-cs/DSCMR). A
pair without labels costs b ‖u_i - v_i‖ alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from trope.losses.consistency import consistency
from trope.losses.loss import Loss, check_weights, part
from trope.views import Encoded, View


@dataclass(eq=False, kw_only=True)
class DSCMR(Loss):
    """Labels, likeness by labels and pairs; `alpha` and `beta` weigh the last two."""

    takes_scores: ClassVar[bool] = False
    alpha: float = 1e-3
    beta: float = 0.1
    counted: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_weights(alpha=self.alpha, beta=self.beta)

    @property
    def needs(self) -> frozenset[str]:
        """The labels of pairs, and a model that predicts them by a linear map."""
        return frozenset({"labels", "logits", "length"})

    @property
    def of_labels(self) -> bool:
        """Unless both vectors of a pair are to be near."""
        return not self.beta

    def forward(self, view: View) -> Float[Tensor, " n"]:
        """The loss of each pair."""
        labels = part(view.labels, "labels")
        known = labels.any(dim=1)
        wrong = [_wrong(items, labels) for items in (view.image, view.text)]
        loss = (wrong[0] + wrong[1]).masked_fill(~known, 0)
        apart = _unscaled(view.image) - _unscaled(view.text)
        length: Tensor = torch.linalg.vector_norm(apart, dim=1)
        con = consistency(view.image, view.text, labels, self.counted)
        return loss + self.alpha * con + self.beta * length


def _wrong(items: Encoded, labels: Bool[Tensor, "n c"]) -> Float[Tensor, " n"]:
    logits = part(items.logits, "logits")
    found: Tensor = torch.linalg.vector_norm(logits - labels.to(logits.dtype), dim=1)
    return found


def _unscaled(items: Encoded) -> Float[Tensor, "n d"]:
    return items.mean * part(items.length, "length")[:, None]

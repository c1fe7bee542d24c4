"""Semantic sharing (Yang et al., IJCAI 2021, paper 003, Eq. 6): labels of each modality alone.

    L_i = ½ (l(image_i) + l(text_i)) + λ (m(image_i) + m(text_i)) + η consistency_i

    product   l = log(1 + exp(-Σ_c y_c ŷ_c))
    entropy   l = -1/C Σ_c (y_c log ŷ_c + (1 - y_c) log(1 - ŷ_c))

y are a pair's labels and ŷ the scores that the model gives them; m is what predicting masked parts
cost. The paper's method has no consistency (η = 0); "Ours+Con" of its Table 1 has it, with η = 0.1.
λ is 0.01 on COCO, 0.1 on FLICKR25K and NUS-WIDE. A pair without labels costs nothing but m.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits, softplus

from trope.losses.consistency import consistency
from trope.losses.loss import Loss, check_weights, part
from trope.views import View


@dataclass(eq=False, kw_only=True)
class Labels(Loss):
    """Both modalities predict the labels of a pair; `masked` is λ, `consistency` is η."""

    takes_scores: ClassVar[bool] = False
    form: Literal["product", "entropy"] = "product"
    masked: float = 0.01
    consistency: float = 0.0
    counted: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        check_weights(masked=self.masked, consistency=self.consistency)

    @property
    def needs(self) -> frozenset[str]:
        """The labels of pairs, and a model that predicts them."""
        return frozenset({"labels", "logits"})

    @property
    def of_labels(self) -> bool:
        """It is: nothing is masked of what a trained model is asked."""
        return True

    def forward(self, view: View) -> Float[Tensor, " n"]:
        """The loss of each pair."""
        labels = part(view.labels, "labels")
        term = product if self.form == "product" else entropy
        logits = (part(items.logits, "logits") for items in (view.image, view.text))
        loss = sum((term(one, labels) for one in logits), torch.zeros(())) / 2
        loss = loss.masked_fill(~labels.any(dim=1), 0)
        for items in (view.image, view.text):
            if items.masked is not None:
                loss = loss + self.masked * items.masked
        if self.consistency:
            con = consistency(view.image, view.text, labels, self.counted)
            loss = loss + self.consistency * con
        return loss


def product(logits: Float[Tensor, "n c"], labels: Bool[Tensor, "n c"]) -> Float[Tensor, " n"]:
    """One logistic of how much of the scores is on the right labels."""
    right = (torch.sigmoid(logits) * labels).sum(dim=1)
    return torch.as_tensor(softplus(-right))


def entropy(logits: Float[Tensor, "n c"], labels: Bool[Tensor, "n c"]) -> Float[Tensor, " n"]:
    """Each label for itself: there or not."""
    wanted = labels.to(logits.dtype)
    return binary_cross_entropy_with_logits(logits, wanted, reduction="none").mean(dim=1)

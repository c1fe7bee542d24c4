"""Soft targets from similarities within one modality: CUSA (Huang et al., AAAI 2024).

    L_i = InfoNCE_i + λ_cross  (KL(Q_look ‖ P_image→text) + KL(Q_meaning ‖ P_text→image))_i
                    + λ_within (KL(Q_look ‖ P_image→image) + KL(Q_meaning ‖ P_text→text))_i

Q is the softmax over the batch of a frozen teacher's cosines (temperature 1), P of the model's.
The model's temperatures are learned: 0.05 in [0.01, 0.1] for InfoNCE; from 0.45, for the cross term
in [0.1, 0.99] and for images and texts each in [0.1, 1]. These and the weights are those of the
authors' public code (lerogo/aaai24_itr_cusa, unire/model.py and configs/vitb32). That code differs
in three ways: it takes half of each term; its InfoNCE is also divided by the batch size, so
that its weights at batch 128 are 12.8 and 64 here; its within terms have projections of their own.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from trope.losses.infonce import infonce
from trope.losses.learned import Learned
from trope.losses.loss import Loss, check_between, check_weights, part
from trope.maths import log_softmax, normalize
from trope.similarity import scores_of, similarity
from trope.views import Encoded, View


@dataclass(eq=False, kw_only=True)
class SoftTargets(Loss):
    """InfoNCE, and the batch seen as a frozen space of texts and one of images see it."""

    cross: float = 0.1
    within: float = 0.5
    temperature: float = 0.05
    soft_temperature: float = 0.45
    teacher_temperature: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        check_weights(cross=self.cross, within=self.within)
        check_between(0.01, 0.1, temperature=self.temperature)
        check_between(0.1, 0.99, soft_temperature=self.soft_temperature)
        check_between(0.01, 10.0, teacher_temperature=self.teacher_temperature)
        self.hard = Learned(self.temperature, 0.01, 0.1)
        self.pairs = Learned(self.soft_temperature, 0.1, 0.99)
        self.images = Learned(self.soft_temperature, 0.1, 1.0)
        self.texts = Learned(self.soft_temperature, 0.1, 1.0)

    @property
    def needs(self) -> frozenset[str]:
        """Both teachers, where they have weight."""
        return frozenset({"meaning", "look"}) if self.cross or self.within else frozenset()

    def forward(self, view: View) -> Float[Tensor, " n"]:
        """The loss of each pair."""
        scores = scores_of(view)
        loss = infonce(scores / self.hard(), view.same)
        if not self.needs or (view.look is None and not self.training):
            return loss  # validation looks at the pairs alone
        allowed = ~view.same | torch.eye(len(scores), dtype=torch.bool, device=scores.device)
        look = self._teacher(part(view.look, "look"), allowed)
        meaning = self._teacher(part(view.meaning, "meaning"), allowed)
        if self.cross:
            pairs = scores / self.pairs()
            soft = divergence(look, pairs, allowed) + divergence(meaning, pairs.T, allowed)
            loss = loss + self.cross * soft
        if self.within:
            soft = divergence(look, _within(view.image, self.images), allowed)
            soft = soft + divergence(meaning, _within(view.text, self.texts), allowed)
            loss = loss + self.within * soft
        return loss

    def _teacher(
        self, vectors: Float[Tensor, "n m"], allowed: Bool[Tensor, "n n"]
    ) -> Float[Tensor, "n n"]:
        """Logarithms of the soft targets; they are frozen, whatever made the vectors."""
        unit = normalize(vectors.detach())
        return log_softmax(unit @ unit.T / self.teacher_temperature, allowed)


def divergence(
    target: Float[Tensor, "n n"], logits: Float[Tensor, "n n"], allowed: Bool[Tensor, "n n"]
) -> Float[Tensor, " n"]:
    """KL(target ‖ softmax(logits)) of each row over its allowed entries; `target` is logarithms."""
    ratio = (target - log_softmax(logits, allowed)).masked_fill(~allowed, 0)
    return (target.exp() * ratio).sum(dim=1)


def _within(items: Encoded, temperature: Learned) -> Float[Tensor, "n n"]:
    divisor: Tensor = temperature()
    return similarity(items, items) / divisor

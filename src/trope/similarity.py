"""How alike two encoded items are: the cosine, or the best cosine over their senses."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from trope.views import Encoded, View


def similarity(
    left: Encoded, right: Encoded, out: Float[Tensor, "n m"] | None = None
) -> Float[Tensor, "n m"]:
    """Every item of one side with every item of the other, written to `out` if there is one."""
    if left.points is None or right.points is None:
        return torch.matmul(left.mean, right.mean.T, out=out)
    n, k, _ = left.points.shape
    m, other, _ = right.points.shape
    all_senses = left.points.flatten(0, 1) @ right.points.flatten(0, 1).T
    return torch.amax(all_senses.view(n, k, m, other), dim=(1, 3), out=out)


def scores_of(view: View) -> Float[Tensor, "n n"]:
    """Every image of a batch with every text, as the model compares them."""
    return similarity(view.image, view.text) if view.scores is None else view.scores


def own_scores_of(view: View) -> Float[Tensor, " n"]:
    """Every image of a batch with its own text."""
    if view.scores is None:
        return paired_similarity(view.image, view.text)
    return view.scores.diagonal()


def summed_similarity(left: Encoded, partner: Encoded, right: Encoded) -> Float[Tensor, "n m"]:
    """Every item of one side, plus its partner's, with every item of the other: one product."""
    if left.points is None or partner.points is None or right.points is None:
        return (left.mean + partner.mean) @ right.mean.T
    return similarity(left, right) + similarity(partner, right)


def paired_similarity(left: Encoded, right: Encoded) -> Float[Tensor, " n"]:
    """Each item with the one at the same place on the other side."""
    if left.points is None or right.points is None:
        return (left.mean * right.mean).sum(dim=1)
    return (left.points @ right.points.transpose(1, 2)).amax(dim=(1, 2))

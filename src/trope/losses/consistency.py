"""Consistency by labels: pairs that share a label are near, others are not, whatever modality.

    L_i = 1/m Σ_j (c(image_i, image_j) + c(text_i, text_j) + ½ c(image_i, text_j) + ½ c(image_j, text_i))
    c(a, b) = log(1 + e^{Γ}) - S Γ        Γ = ½ s(a, b)        S = 1 if a and b share a label, else 0

The mean over i is that of the three matrices of Zhen et al. (CVPR 2019, DSCMR, Eq. 4): S between
modalities and S^m within one. j runs over the m pairs of the batch that have labels; a pair without
any costs nothing. The authors' code takes the number of shared labels for S, which `counted` brings
back; of a likelihood it is none then.
"""  # noqa: E501

from __future__ import annotations

import torch
from jaxtyping import Bool, Float
from torch import Tensor
from torch.nn.functional import softplus

from trope.similarity import similarity
from trope.views import Encoded


def consistency(
    image: Encoded, text: Encoded, labels: Bool[Tensor, "n c"], counted: bool = False
) -> Float[Tensor, " n"]:
    """What each pair costs."""
    known = labels.any(dim=1)
    shared = labels.to(image.mean.dtype) @ labels.T.to(image.mean.dtype)
    alike = shared if counted else (shared > 0).to(shared.dtype)
    across = _costs(similarity(image, text), alike)
    costs = (across + across.T) / 2
    for items in (image, text):
        costs = costs + _costs(similarity(items, items), alike)
    costs = costs.masked_fill(~(known[:, None] & known), 0)
    return costs.sum(dim=1) / known.sum().clamp(min=1)


def _costs(scores: Float[Tensor, "n n"], alike: Float[Tensor, "n n"]) -> Float[Tensor, "n n"]:
    return torch.as_tensor(softplus(scores / 2) - alike * scores / 2)

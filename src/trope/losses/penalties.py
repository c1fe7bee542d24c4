"""What PVSE adds for several senses of an item (Song & Soleymani, CVPR 2019): one number a batch.

    diversity = mean_i ‖G_i - diag G_i‖_F / K², images plus texts     G_i: cosines of i's residuals
    mmd       = mean k(x, x) - 2 mean k(x, y) + mean k(y, y)          k(a, b) = exp(-½ ‖a - b‖)

x are all senses of all images, y those of all texts. Norm and kernel as in the authors' public
code (yalesong/pvse, loss.py): the distance in the kernel is not squared. With one sense both are 0.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from jaxtyping import Float
from torch import Tensor

from trope.maths import normalize
from trope.views import View

Penalty = Callable[[View], Float[Tensor, ""]]
GAMMA = 0.5


def diversity(view: View) -> Float[Tensor, ""]:
    """How alike the residuals of an item are: its senses should differ."""
    both = [items.residuals for items in (view.image, view.text) if items.residuals is not None]
    return sum(map(_likeness, both), start=view.image.mean.new_zeros(()))


def mmd(view: View) -> Float[Tensor, ""]:
    """How differently images and texts are distributed: the maximum mean discrepancy."""
    if view.image.points is None or view.text.points is None or view.image.points.shape[1] == 1:
        return view.image.mean.new_zeros(())
    x, y = view.image.points.flatten(0, 1), view.text.points.flatten(0, 1)
    return _kernel(x, x) - 2 * _kernel(x, y) + _kernel(y, y)


def _likeness(residuals: Float[Tensor, "n k d"]) -> Float[Tensor, ""]:
    unit, k = normalize(residuals), residuals.shape[1]
    own = torch.eye(k, dtype=torch.bool, device=unit.device)
    cosines = (unit @ unit.transpose(1, 2)).masked_fill(own, 0)
    norms: Tensor = torch.linalg.vector_norm(cosines, dim=(1, 2))
    return norms.mean() / k**2


def _kernel(x: Float[Tensor, "n d"], y: Float[Tensor, "m d"]) -> Float[Tensor, ""]:
    distances: Tensor = torch.cdist(x, y)
    return torch.exp(-GAMMA * distances).mean()
